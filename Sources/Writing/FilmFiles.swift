internal import Demuxing
internal import Glibc
internal import Media
internal import SampleQueue

/// The files of a film with their muxers: one for all tracks, or, for DASH, one for each and the manifest.
///
/// Thread-safety: one thread at a time; `sync` from any.
@safe
final class FilmFiles: @unchecked Sendable {
    private let path: String
    private let container: FileContainer
    private let overwrites: Bool
    private(set) var muxers: [Muxer] = []
    private var tracks: [TrackDescription] = []
    /// Of DASH.
    private let manifest: FileDraft?
    private var title: String?
    /// Film time at which the last sample ends.
    private var end = MediaTime.zero

    /// Creates the file under its temporary name; for DASH the manifest.
    init(path: String, container: FileContainer, overwrites: Bool) throws(WritingError) {
        self.path = path
        self.container = container
        self.overwrites = overwrites
        let draft = try FileDraft(path: path, overwrites: overwrites)
        if container == .dash {
            manifest = draft
            return
        }
        manifest = nil
        do throws(WritingError) { muxers = [try Muxer(draft: draft, container: container)] } catch {
            draft.discard()
            throw error
        }
    }

    /// The one file of a film that has one.
    var whole: Muxer { muxers[0] }
    /// Bytes in all files; nil when the system does not say.
    var byteCount: Int64? {
        var sum: Int64 = 0
        for muxer in muxers {
            guard let count = muxer.byteCount else { return nil }
            sum += count
        }
        return sum
    }
    /// Bytes up to the end of the last whole fragment.
    var wholeByteCount: Int64 { muxers.reduce(0) { $0 + $1.wholeByteCount } }

    /// False when there is no memory.
    func addStream(_ track: TrackDescription) throws(WritingError) -> Bool {
        guard manifest != nil else { return whole.addStream(track) }
        let draft = try FileDraft(path: trackPath(muxers.count), overwrites: overwrites)
        let muxer: Muxer
        do throws(WritingError) { muxer = try Muxer(draft: draft, container: container) } catch {
            draft.discard()
            throw error
        }
        guard muxer.addStream(track) else {
            draft.discard()
            return false
        }
        muxers.append(muxer)
        tracks.append(track)
        return true
    }

    /// `film.0.mp4` beside `film.mpd`.
    private func trackPath(_ number: Int) -> String {
        let stem = path.lowercased().hasSuffix(".mpd") ? String(path.dropLast(4)) : path
        return "\(stem).\(number).mp4"
    }

    /// - Parameter timescale: Of all tracks in one file.
    func begin(_ options: AssetWriterOptions, _ plan: Muxer.Plan, timescale: (_ input: Int?) -> Int32) throws(WritingError) {
        title = options.metadata["title"]
        for (number, muxer) in muxers.enumerated() {
            // Titles of chapters would be a second track in each file.
            try muxer.begin(options, manifest == nil ? plan : Muxer.Plan(), timescale: timescale(manifest == nil ? nil : number))
        }
    }

    func write(_ sample: SampleBuffer, _ block: BlockBuffer, _ times: Muxer.Times, input: Int) throws(WritingError) {
        if manifest == nil { return try whole.write(sample, block, times, stream: input) }
        try muxers[input].write(sample, block, times, stream: 0)
        end = max(end, times.presentation + (times.duration.isNumeric ? times.duration : .zero))
    }

    /// Ends a fragment: all samples so far are in the files. The film has its name then, unless its index comes last.
    ///
    /// - Parameter end: The film's length where it was told.
    func endFragment(_ end: MediaTime?) throws(WritingError) {
        for muxer in muxers { try muxer.endFragment(end) }
        if manifest == nil { try whole.draft.publish() }
    }

    /// Completes the files and gives them their names. The manifest appears last.
    ///
    /// - Parameter time: The film's length where it was told; what the samples show after it is hidden.
    func end(at time: MediaTime?) throws(WritingError) {
        for muxer in muxers { try muxer.end(at: time) }
        guard let manifest else { return try whole.draft.publish() }
        var entries: [DashManifest.Track] = []
        for (number, muxer) in muxers.enumerated() {
            guard let entry = try muxer.dashTrack(tracks[number]) else {
                muxer.draft.discard()
                continue
            }
            entries.append(entry)
            try muxer.draft.publish()
        }
        let text = DashManifest(title: title, duration: end, tracks: entries).text
        do throws(SystemError) { try writeWhole(Array(text.utf8), to: manifest.descriptor.rawValue) } catch {
            throw WritingError.writing(path, error.code)
        }
        try manifest.publish()
    }

    // MARK: What is left

    /// Has the disk take all bytes; false where it fails, which `errno` explains.
    func sync() -> Bool { muxers.allSatisfy { fdatasync($0.draft.descriptor.rawValue) == 0 } }

    /// Removes what has no name yet.
    func discard() {
        for muxer in muxers { muxer.draft.discard() }
        manifest?.discard()
    }

    /// Removes the files under whatever names.
    func remove() {
        for muxer in muxers { muxer.draft.remove() }
        manifest?.remove()
    }

    /// Leaves whole fragments of a file that has its name, and nothing of others.
    func leaveWholeFragments() {
        if manifest == nil, whole.draft.isPublished {
            _ = ftruncate(whole.draft.descriptor.rawValue, off_t(whole.wholeByteCount))
        } else {
            remove()
        }
    }
}

extension Muxer {
    /// What the manifest says about this file; nil for one without a sample.
    fileprivate func dashTrack(_ track: TrackDescription) throws(WritingError) -> DashManifest.Track? {
        guard hasSamples else { return nil }
        do throws(SystemError) {
            let descriptor = draft.descriptor.rawValue
            if let place = try MovieBox.find("sidx", in: descriptor), let codec = try MovieBox(in: descriptor)?.codecTexts.first,
                let parts = SegmentIndex(try MovieBox.read(Int(place.count), at: place.offset, in: descriptor))
            {
                return DashManifest.Track(
                    description: track, fileName: FileDraft.name(ofPath: draft.path), codec: codec,
                    index: place.offset..<place.offset + place.count, parts: parts)
            }
        } catch { throw WritingError.writing(draft.path, error.code) }
        throw WritingError(.damaged, draft.path, "the container cannot be completed (no index of parts, or no codec)")
    }
}
