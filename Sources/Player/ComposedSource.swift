package import Composition
internal import Decoding
internal import Demuxing
internal import Media
internal import PixelConversion
internal import Reading
internal import SampleQueue
internal import SurfacePool

/// A composition that a player opens: what it is made of, and how it is drawn and mixed.
package struct ComposedFilm: Sendable {
    package var composition: Composition
    package var video: VideoComposition
    package var mix: AudioMix
    /// nil: the built-in one.
    package var compositor: (any VideoCompositing)?
    /// What sentences call it.
    package var name: String

    package init(
        _ composition: Composition, _ video: VideoComposition, _ mix: AudioMix = AudioMix(), compositor: (any VideoCompositing)? = nil,
        name: String = "composition"
    ) {
        self.composition = composition
        self.video = video
        self.mix = mix
        self.compositor = compositor
        self.name = name
    }
}

/// The frames of a composition as they are drawn, and its sound as it is mixed.
///
/// While the film's time runs, frames whose time is over are not asked for. What a compositor does wrong is said once for each kind of fault.
///
/// Thread-safety: as `SampleSource`; `follow`, `replace` and `statistics` from any thread.
final class ComposedSource: SampleSource, @unchecked Sendable {
    static let frameTrack = 0, soundTrack = 1
    /// What the mixed sound looks like.
    static let soundFormat = AudioFormat(codecName: "pcm_f32le", sampleRate: 48_000, channelCount: 2, channelLayout: "stereo")

    let composition: Composition
    private let range: MediaTimeRange
    private let frames: CompositionVideoOutput?
    private let sound: CompositionSoundOutput?
    private let written: FrameStatistics
    private var order: ComposedOrder
    private var told = Told()
    private let shared = Monitor(Shared())

    /// What the viewer has been told.
    private struct Told {
        var isLate = false, hasFailed = false, answersTwice = false
        var notices = 0
    }

    private struct Shared: Sendable {
        var replacement: VideoComposition?
        var isCancelled = false
        /// The film's time while it runs; nil while it stands still.
        var clock: (@Sendable () -> MediaTime?)?
        var onNotice: (@Sendable (String) -> Void)?
    }

    /// - Parameters:
    ///   - range: The part that is played. The viewer may go back to what lies before it.
    ///   - options: `reading.statistics` counts the bytes.
    init(
        _ film: ComposedFilm, range: MediaTimeRange, playsFrames: Bool, playsSound: Bool, options: CompositionReadingOptions
    ) throws(ReadingError) {
        if let error = ReadingError({ film.mix.isValid(for: film.composition, $0) }) { throw error }
        var options = options
        let written = FrameStatistics()
        options.reading.statistics = written
        self.written = written
        composition = film.composition
        self.range = range
        frames = playsFrames ? try CompositionVideoOutput(of: composition, film.video, compositor: film.compositor, options: options) : nil
        sound =
            playsSound
            ? try CompositionSoundOutput(
                of: composition, film.mix, sampleRate: Self.soundFormat.sampleRate, channelCount: Int(Self.soundFormat.channelCount),
                options: options.reading) : nil
        order = ComposedOrder(hasFrames: playsFrames, hasSound: playsSound)
        restart(at: range.start)
    }

    // MARK: Any thread

    /// Frames keep to a film's time from now on, and sentences for the viewer go to `onNotice`.
    func follow(_ clock: @escaping @Sendable () -> MediaTime?, onNotice: @escaping @Sendable (String) -> Void) {
        shared.withLock { shared in
            shared.clock = clock
            shared.onNotice = onNotice
        }
    }

    /// Frames that are read from now on are drawn in another way.
    func replace(_ video: VideoComposition) throws(ReadingError) {
        if let error = ReadingError({ video.isValid(for: composition, $0) }) { throw error }
        shared.withLock { $0.replacement = video }
        frames?.interrupt()
    }

    func interrupt() { frames?.interrupt() }

    func cancel() {
        shared.withLock { $0.isCancelled = true }
        frames?.cancel()
        sound?.cancel()
    }

    /// What has become of the frames; nil for a composition of which only the sound plays.
    var report: CompositorReport? { frames?.report }
    /// Why frames are converted before the compositor gets them; nil while they are not.
    var conversion: PlaybackStatistics.Conversion? { frames?.conversion.map { .init(from: $0.from, to: $0.to, why: $0.why) } }
    /// Pixel bytes that the decoders wrote.
    var bytesWritten: Int { written.bytesWritten }
    /// Pixel bytes that were copied or converted on their way from a decoder.
    var bytesCopied: Int { written.bytesCopied }

    // MARK: The feeder's thread

    func nextSample() throws(AssetError) -> SampleBuffer? { try nextSample(for: [Self.frameTrack, Self.soundTrack]) }

    func nextSample(for hungry: Set<Int>) throws(AssetError) -> SampleBuffer? {
        let step = order.next(wantsSound: hungry.contains(Self.soundTrack))
        do throws(ReadingError) {
            switch step {
            case .end: return nil
            case .frame: return try nextFrame() ?? end(step, Self.frameTrack)
            case .sound: return try nextSound() ?? end(step, Self.soundTrack)
            }
        } catch {
            if error.code == .cancelled, !shared.withLock({ $0.isCancelled }) {
                // Interrupted: whoever asks comes back, to see whether there is something else to do.
                return SampleBuffer(marker: .drain, trackID: Self.frameTrack)
            }
            throw AssetError(error)
        }
    }

    private func end(_ step: ComposedOrder.Step, _ track: Int) -> SampleBuffer {
        order.ended(step)
        return SampleBuffer(marker: .endOfStream, trackID: track)
    }

    private func nextFrame() throws(ReadingError) -> SampleBuffer? {
        guard let frames else { return nil }
        let (replacement, clock, onNotice) = shared.withLock { ($0.replacement.take(), $0.clock, $0.onNotice) }
        if let replacement { try frames.replace(replacement) }
        if let now = clock?() { frames.skip(to: now) }
        defer { if let onNotice { tell(frames, onNotice) } }
        guard let frame = try frames.nextFrame() else { return nil }
        order.delivered(.frame)
        let time = frame.presentationTime, duration = frame.duration
        return SampleBuffer(
            content: .image(SharedFrame(frame)), trackID: Self.frameTrack, presentationTime: time, decodeTime: time, duration: duration, flags: .sync)
    }

    private func nextSound() throws(ReadingError) -> SampleBuffer? {
        guard let buffer = try sound?.nextBuffer() else { return nil }
        let bytes = unsafe buffer.samples.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        return SampleBuffer(
            content: .compressed(bytes, .audio(Self.soundFormat)), trackID: Self.soundTrack, presentationTime: buffer.presentationTime,
            decodeTime: buffer.presentationTime, duration: buffer.duration, flags: .sync)
    }

    func seek(to time: MediaTime) throws(AssetError) { restart(at: time) }

    private func restart(at time: MediaTime) {
        // At the end the last frame is shown.
        let last = range.end - (frames?.videoComposition.frameDuration ?? .zero)
        let part = MediaTimeRange(start: max(min(time, last), .zero), end: range.end)
        frames?.reset(forReadingTimeRange: part)
        sound?.reset(forReadingTimeRange: part)
        order = ComposedOrder(hasFrames: frames != nil, hasSound: sound != nil)
    }

    /// Says what the compositor has done wrong, once for each kind, and what was found out about the films.
    private func tell(_ frames: CompositionVideoOutput, _ onNotice: (String) -> Void) {
        let report = frames.report, notices = frames.notices
        for notice in notices.dropFirst(told.notices) { onNotice(notice) }
        told.notices = notices.count
        guard let fault = report.lastFault else { return }
        let now = Told(
            isLate: report.framesLate > 0, hasFailed: report.framesFailed > 0, answersTwice: report.framesLate + report.framesFailed == 0,
            notices: notices.count)
        let isNew = now.isLate && !told.isLate || now.hasFailed && !told.hasFailed || now.answersTwice && !told.answersTwice
        if isNew { onNotice(fault) }
        told = Told(
            isLate: told.isLate || now.isLate, hasFailed: told.hasFailed || now.hasFailed, answersTwice: told.answersTwice || now.answersTwice,
            notices: notices.count)
    }
}
