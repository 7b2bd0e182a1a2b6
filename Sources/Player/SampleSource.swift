internal import AudioSink
internal import Demuxing
internal import Media
internal import SampleQueue

/// Where samples come from: a container opened by libavformat, bytes of an elementary stream, a camera, a composition.
///
/// Thread-safety: one thread (the feeder's) calls everything but `cancel` and `interrupt`, which any thread may call.
protocol SampleSource: AnyObject, Sendable {
    /// The next sample in file order; nil at the end.
    func nextSample() throws(AssetError) -> SampleBuffer?
    /// As `nextSample`, of a source that chooses among its tracks: preferably of a track whose queue takes more. A track that ends before others
    /// says so with an end-of-stream marker.
    func nextSample(for hungry: Set<Int>) throws(AssetError) -> SampleBuffer?
    /// Continues from the sync sample at or before `time`; samples before `time` come marked as not to be shown.
    func seek(to time: MediaTime) throws(AssetError)
    /// Makes a blocked `nextSample` or `seek` throw soon.
    func cancel()
    /// What is being read is not wanted any more, because a seek follows: a `nextSample` that waits for others than the source's bytes returns soon.
    func interrupt()
    /// Whether `interrupt` makes a `nextSample` that waits throw `cancelled`, also where the seek has been carried out meanwhile.
    var mayBeInterrupted: Bool { get }
    /// The film stands still (true), or goes on. Of a live source: what it makes while the film stands still is left out. Any thread.
    func setHeld(_ isHeld: Bool)
}

extension SampleSource {
    /// The next one in file order.
    func nextSample(for hungry: Set<Int>) throws(AssetError) -> SampleBuffer? { try nextSample() }

    /// Nothing: reading takes no longer than its bytes.
    func interrupt() {}

    /// No.
    var mayBeInterrupted: Bool { false }

    /// Nothing: the source waits until more is asked for.
    func setHeld(_ isHeld: Bool) {}
}

/// A container as a sample source.
final class AssetSource: SampleSource, @unchecked Sendable {
    private let reader: any AssetReading
    /// The reader's samples, with times that can be waited for. The feeder's thread.
    private var samples: SteadySamples
    /// The track under whose number sound goes on, whichever plays; nil: the film began without sound.
    private let soundSlot: Int?
    private let others: Set<Int>
    /// Subtitles that are fetched apart from the film: only those that are shown are read.
    private let apart: Set<Int>
    /// The tracks that are read and change while the film plays. The feeder's thread.
    private var chosen: Choice
    /// Those that are wanted.
    private let wanted: Monitor<Choice>

    private struct Choice: Sendable, Hashable {
        /// The track of sound; nil: none plays.
        var sound: Int?
        /// Of those that are apart.
        var text: Int?

        var tracks: Set<Int> { Set([sound, text].compactMap(\.self)) }
    }
    /// What the samples of tracks of sound carry whose loudness is changed.
    private let loudness: [Int: Attachments]

    /// - Parameters:
    ///   - sound: the track of sound; nil: none plays.
    ///   - others: the other tracks that are read.
    ///   - text: the track of subtitles that is shown, where it is one that is fetched apart.
    ///   - replayGain: how loud the sound is played.
    init(reader: any AssetReading, sound: Int?, others: Set<Int>, text: Int? = nil, replayGain: ReplayGainOptions = ReplayGainOptions()) {
        let apart = Set(reader.tracks.filter(\.isApart).map(\.id))
        self.apart = apart
        chosen = Choice(sound: sound, text: text.flatMap { apart.contains($0) ? $0 : nil })
        (self.reader, soundSlot, self.others, wanted) = (reader, sound, others.subtracting(apart), Monitor(chosen))
        var loudness: [Int: Attachments] = [:]
        for track in reader.tracks where track.kind == .audio {
            let factor = replayGain.factor(for: track.replayGain)
            if factor != 1 { loudness[track.id] = AudioRenderer.attachments(gain: Float(factor)) }
        }
        self.loudness = loudness
        samples = SteadySamples(reader)
        reader.select(self.others.union(chosen.tracks))
    }

    func nextSample() throws(AssetError) -> SampleBuffer? {
        guard var sample = try samples.next() else { return nil }
        if let soundSlot, sample.trackID == chosen.sound {
            if let loudness = loudness[sample.trackID] { sample.attachments = loudness }
            sample.trackID = soundSlot
        }
        return sample
    }

    func seek(to time: MediaTime) throws(AssetError) {
        let next = wanted.withLock { $0 }
        if next != chosen {
            reader.select(others.union(next.tracks))
            chosen = next
        }
        try samples.seek(to: time)
    }

    func cancel() { reader.cancel() }

    /// As `AssetReader.bytesReceived`. The feeder's thread.
    var bytesReceived: Int64? { reader.bytesReceived }

    /// The track of sound that is heard from the next seek on. Any thread.
    var soundTrack: Int? { wanted.withLock { $0.sound } }

    /// Reads the sound of this track from the next seek on, in place of the one that plays. Any thread.
    func chooseSound(_ track: Int) { wanted.withLock { if $0.sound != nil { $0.sound = track } } }

    /// Reads this track of subtitles from the next seek on, where it is fetched apart; nil, and others: none that is. Any thread.
    ///
    /// - Returns: Whether it is not read yet.
    func chooseText(_ track: Int?) -> Bool {
        let next = track.flatMap { apart.contains($0) ? $0 : nil }
        return wanted.withLock { wanted in
            defer { wanted.text = next }
            return next != nil && next != wanted.text
        }
    }
}
