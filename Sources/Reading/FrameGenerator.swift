public import Media
public import SurfacePool

/// Finds the frames of a film at any times: for previews, contact sheets, and analysis.
///
/// The counterpart of `AVAssetImageGenerator`. The frames are decoded in file order, whatever the order of the times, so that a group of frames is
/// decoded once, however many of its frames are wanted.
///
///     let generator = try FrameGenerator(url: "film.mp4")
///     let frame = try generator.frame(at: MediaTime(value: 10, timescale: 1))
///     for try await found in generator.frames(at: times) { … found.frame … }
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public final class FrameGenerator: @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    private let source: any FrameFinding
    private let form: FrameForm
    private let isCancelled = Monitor(false)
    let queue = ReadingQueue()

    /// Opens a film, and a decoder for one of its tracks. Blocks; `options.reading.source.cancellation` ends the wait.
    ///
    /// - Parameters:
    ///   - location: A path, `-` for standard input, or a URL of any protocol that libavformat knows.
    ///   - trackID: A video track's number; nil takes the one that the container marks as default, else the first.
    /// - Throws: `.source`, `.noTrack`, `.decoding`.
    public convenience init(
        url location: String, track trackID: Int? = nil, options: FrameGeneratorOptions = FrameGeneratorOptions()
    ) throws(ReadingError) {
        self.init(try FilmFrames(location, trackID, options), location, options)
    }

    /// - Parameter location: What sentences call the source.
    package init(_ source: any FrameFinding, _ location: String, _ options: FrameGeneratorOptions) {
        self.source = source
        self.location = location
        form = FrameForm(options)
    }

    /// One sentence for the user when the film is not read or decoded in the processes that `ReadingOptions.sandbox` asks for; nil otherwise.
    public var notice: String? { source.notice }

    /// Length of the film; indefinite for a live stream.
    public var duration: MediaTime { source.duration }

    /// Samples decoded so far, or frames of a composition drawn: what the frames have cost.
    public var samplesDecoded: Int { source.cost }

    /// Finds the frame for one time, as `FrameGeneratorOptions.selection` says. Blocks.
    ///
    /// - Throws: `.noFrame` behind the end of the film; what keeps the film from being read.
    public func frame(at time: MediaTime) throws(ReadingError) -> VideoFrame {
        if isCancelled.withLock({ $0 }) { throw .cancelled(location) }
        do throws(ReadingError) {
            guard time.isNumeric else { throw ReadingError(.noFrame, "\(location): \(time) is no time of a frame.", time: time) }
            return try form.apply(try source.find(time).copy(), location)
        } catch {
            source.forget()
            throw isCancelled.withLock { $0 } ? .cancelled(location) : error
        }
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        isCancelled.change { $0 = true }
        source.cancel()
    }
}

/// Where a `FrameGenerator` finds frames.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
package protocol FrameFinding: AnyObject, Sendable {
    /// Why the source is not read in the process that was asked for.
    var notice: String? { get }
    /// Indefinite where it is unknown.
    var duration: MediaTime { get }
    /// Samples decoded or frames drawn so far.
    var cost: Int { get }
    /// The frame for a time, which is a number.
    func find(_ time: MediaTime) throws(ReadingError) -> SharedFrame
    /// The next frame is found without what is known of the last.
    func forget()
    /// Makes a blocked call fail soon.
    func cancel()
}
