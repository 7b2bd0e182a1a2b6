package import Media
package import SampleQueue

/// Reads a film whose sound lies at another place than its frames, as pages offer it: the samples of both in the order of their times.
///
/// The tracks of the first reader keep their numbers; those of the second one's sound follow them.
///
/// Thread-safety: as `AssetReading`.
package final class PairedReader: AssetReading, @unchecked Sendable {
    package let location: String
    package let tracks: [AssetTrack]
    private let frames: any AssetReading, sound: any AssetReading
    /// The second reader's track numbers, in the order of `tracks`.
    private let soundTracks: [Int]
    private var selected: Set<Int>
    /// A sample that has been read of each, and whether there are more.
    private var next: (frames: SampleBuffer?, sound: SampleBuffer?) = (nil, nil)
    private var hasEnded = (frames: false, sound: false)

    /// The length is that of the frames.
    private let isAdded: Bool

    /// - Parameters:
    ///   - location: what sentences call the film.
    ///   - file: a file whose sound is added to a film that may have its own, and the language of that; nil: the two are one film.
    package init(_ location: String, frames: any AssetReading, sound: any AssetReading, file: (path: String, language: String?)? = nil) {
        self.location = location
        isAdded = file != nil
        self.frames = frames
        self.sound = sound
        let heard = sound.tracks.filter { $0.kind == .audio }
        soundTracks = heard.map(\.id)
        let first = frames.tracks.count
        tracks =
            frames.tracks
            + heard.enumerated().map { index, track in
                var track = track
                track.id = first + index
                if let file {
                    (track.file, track.isDefault) = (file.path, false)
                    track.language = track.language ?? file.language
                }
                return track
            }
        selected = AssetTrack.usual(tracks)
        sound.select(Set(soundTracks))
    }

    package var duration: MediaTime {
        if isAdded { return frames.duration }
        guard frames.duration.isNumeric, sound.duration.isNumeric else { return .indefinite }
        return max(frames.duration, sound.duration)
    }

    package var containerName: String { frames.containerName }
    package var title: String? { frames.title }
    package var metadata: [String: String] { frames.metadata }
    package var chapters: [AssetChapter] { frames.chapters }
    package var isSeekable: Bool { frames.isSeekable && sound.isSeekable }
    package var offer: VariantOffer? { frames.offer }
    package var fonts: [AttachedFont] { get throws(AssetError) { try frames.fonts } }
    package var preferredStart: MediaTime? { frames.preferredStart }

    package var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) {
        didSet {
            restart()
            frames.timeRange = timeRange
            sound.timeRange = timeRange
        }
    }

    package func select(_ trackIDs: Set<Int>) {
        selected = trackIDs.intersection(tracks.map(\.id))
        frames.select(selected.filter { $0 < frames.tracks.count })
        sound.select(Set(soundTracks.indices.filter { selected.contains(frames.tracks.count + $0) }.map { soundTracks[$0] }))
        if let sample = next.frames, !selected.contains(sample.trackID) { next.frames = nil }
        if let sample = next.sound, !selected.contains(sample.trackID) { next.sound = nil }
    }

    package func nextSample() throws(AssetError) -> SampleBuffer? {
        if next.frames == nil, !hasEnded.frames, selected.contains(where: { $0 < frames.tracks.count }) {
            next.frames = try frames.nextSample()
            hasEnded.frames = next.frames == nil
        }
        if next.sound == nil, !hasEnded.sound, selected.contains(where: { $0 >= frames.tracks.count }) {
            next.sound = try sound.nextSample()
            hasEnded.sound = next.sound == nil
            if let sample = next.sound, let place = soundTracks.firstIndex(of: sample.trackID) { next.sound?.trackID = frames.tracks.count + place }
        }
        let isSound = next.frames.map { frame in next.sound.map { Self.order($0) < Self.order(frame) } ?? false } ?? true
        return isSound ? next.sound.take() : next.frames.take()
    }

    /// What samples of the two follow each other by.
    private static func order(_ sample: SampleBuffer) -> MediaTime {
        let time = sample.decodeTime.isNumeric ? sample.decodeTime : sample.presentationTime
        return time.isNumeric ? time : .negativeInfinity
    }

    package func seek(to time: MediaTime) throws(AssetError) {
        try frames.seek(to: time)
        try sound.seek(to: time)
        restart()
    }

    private func restart() { (next, hasEnded) = ((nil, nil), (false, false)) }

    package func cancel() {
        frames.cancel()
        sound.cancel()
    }
}
