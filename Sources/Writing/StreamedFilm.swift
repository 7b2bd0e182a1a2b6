internal import Demuxing
internal import Glibc
internal import Media

/// A film for HTTP Live Streaming, by the name of its playlist: the names of the files, and what the playlists are told while the film is written.
/// Both appear with the first segment; the film's own grows, the other one says at the end what the film needed.
///
/// Thread-safety: the one thread that writes.
@safe
final class StreamedFilm: @unchecked Sendable {
    private let listPath: String, masterPath: String
    private var draft: FileDraft
    private var master: FileDraft
    private var list: SegmentList
    private var codecs: [CodecText] = []
    /// Bytes of the list that are whole lines.
    private var wholeByteCount: off_t = 0
    /// The list's file says that nothing follows.
    private var isEnded = false

    /// The file in which the film lies whose playlist is at `path`: `film.mp4` beside `film.m3u8`. nil for a name that is no playlist's.
    static func filmPath(ofListAt path: String) -> String? {
        let ending = ".m3u8"
        guard path.count > ending.count, path.lowercased().hasSuffix(ending), path.dropLast(ending.count).last != "/" else { return nil }
        return path.dropLast(ending.count) + ".mp4"
    }

    /// Creates the playlists under their temporary names.
    init(listPath: String, filmPath: String, _ options: AssetWriterOptions) throws(WritingError) {
        self.listPath = listPath
        masterPath = filmPath.dropLast(4) + ".master.m3u8"
        draft = try FileDraft(path: listPath, overwrites: options.overwrites)
        do throws(WritingError) { master = try FileDraft(path: masterPath, overwrites: options.overwrites) } catch {
            draft.discard()
            throw error
        }
        list = SegmentList(fileName: FileDraft.name(ofPath: filmPath), segmentDuration: options.segmentDuration)
    }

    /// The tracks; told before the first sample.
    var tracks: [TrackDescription] = [] {
        didSet { list.hasVideo = tracks.contains { $0.kind == .video } }
    }

    /// How much comes before the part that is wanted; told before the first sample.
    var leadIn: MediaTime {
        get { list.leadIn }
        set { list.leadIn = newValue }
    }

    deinit { discard() }

    /// Removes what has not been published.
    private func discard() {
        draft.discard()
        master.discard()
    }

    /// Removes the playlists under whatever names.
    func remove() {
        draft.remove()
        master.remove()
    }

    /// Writing has failed: what the list names is all there will be.
    func endEarly() {
        guard draft.isPublished else { return discard() }
        if isEnded { return }
        _ = ftruncate(draft.descriptor.rawValue, wholeByteCount)
        _ = lseek(draft.descriptor.rawValue, wholeByteCount, SEEK_SET)
        list.end()
        let text =
            switch list.takeChange() {
            case .append(let more): more
            // A segment that is longer than the list has promised is left out.
            case .replace: "#EXT-X-ENDLIST\n"
            }
        // There may be no room even for this; then a player waits for more.
        try? writeWhole(Array(text.utf8), to: draft.descriptor.rawValue)
    }

    /// A sample has been written.
    func note(_ times: Muxer.Times, isVideo: Bool) {
        let duration = times.duration.isNumeric ? times.duration : .zero
        list.note(isVideo: isVideo, end: times.presentation + duration)
    }

    /// A fragment has come to its end; all its bytes are in the film's file.
    ///
    /// - Parameter next: Film time at which the next one begins; nil: it was the last.
    func endSegment(at next: MediaTime?, _ muxer: Muxer) throws(WritingError) {
        let isFirst = list.headByteCount == nil
        if isFirst {
            let head = try muxer.head()
            (list.headByteCount, codecs) = (head.byteCount, head.box.codecTexts)
        }
        list.endSegment(at: next, byteCount: muxer.wholeByteCount)
        if next == nil { return }
        try writeList()
        if isFirst { try writeMaster() }
    }

    /// The film is whole: so are the lists then, and both are on the disk.
    func publish() throws(WritingError) {
        list.end()
        try writeList()
        isEnded = true
        if fsync(draft.descriptor.rawValue) != 0 { throw WritingError.writing(listPath, errno) }
        try writeMaster()
    }

    private func writeList() throws(WritingError) {
        switch list.takeChange() {
        case .append(let text): try write(text, to: draft)
        case .replace(let text):
            // A player that reads the list has the old one or the new one.
            let new = try draft.isPublished ? FileDraft(path: listPath, overwrites: true) : draft
            do throws(WritingError) {
                try write(text, to: new)
                try new.publish()
            } catch {
                new.discard()
                throw error
            }
            draft = new
        }
        wholeByteCount = max(lseek(draft.descriptor.rawValue, 0, SEEK_CUR), 0)
    }

    private func writeMaster() throws(WritingError) {
        if master.isPublished { master = try FileDraft(path: masterPath, overwrites: true) }
        var video: VideoFormat?
        if case .video(let format)? = tracks.first(where: { $0.kind == .video })?.format { video = format }
        let name = FileDraft.name(ofPath: listPath)
        try write(MasterList.text(listName: name, bitRates: list.bitRates, codecs: codecs, video: video), to: master)
        try master.publish()
    }

    private func write(_ text: String, to draft: FileDraft) throws(WritingError) {
        do throws(SystemError) { try writeWhole(Array(text.utf8), to: draft.descriptor.rawValue) } catch {
            throw WritingError.writing(draft.path, error.code)
        }
    }
}
