internal import Capture
public import Media
public import Player
public import Writing

/// Records a microphone alone into a file.
///
/// The file begins with the first sound. A microphone that is unplugged ends the file, which is whole.
///
/// Thread-safety: `run` once, on one thread, which it blocks.
public final class SoundRecording {
    /// How often the recording looks whether to end, where no sound comes.
    private static let glance = HostSpan.milliseconds(100)

    private let track: MicrophoneTrack
    private let writer: AssetWriter
    private let path: String
    private let duration: MediaTime?

    /// Finds the microphone and creates the file under a temporary name.
    /// - Parameter duration: Ends after this much time; nil: when told to.
    public init(
        _ microphone: MicrophoneOptions, to path: String, duration: MediaTime? = nil, writer options: AssetWriterOptions = AssetWriterOptions()
    ) throws(PlayerError) {
        do throws(CaptureError) { track = try MicrophoneTrack(microphone, number: 0) } catch { throw PlayerError(error) }
        do throws(WritingError) { writer = try AssetWriter(path: path, options: options) } catch { throw PlayerError(ExportError.output(error)) }
        self.path = path
        self.duration = duration
    }

    /// Records until the duration is over, `isEnded` says so, or the microphone ends; then completes the file.
    /// - Throws: What the microphone, the encoder or the file reports. After an error of the microphone the file is complete all the same, unless no
    ///   sound had come.
    public func run(isEnded: () -> Bool) throws(PlayerError) -> MicrophoneReport {
        var failure: CaptureError?
        do throws(PlayerError) {
            defer { track.stop() }
            do throws(CaptureError) { try track.start() } catch { throw PlayerError(error) }
            try track.addInput(to: writer)
            do throws(WritingError) { try writer.start() } catch { throw PlayerError(ExportError.output(error)) }
            while failure == nil, !isEnded() {
                failure = try track.takeOne(until: MonotonicClock.shared.now() + Self.glance, duration: duration)
                if let duration, track.reaches(duration) { break }
            }
            guard track.hasBegun else {
                throw failure.map { PlayerError($0) } ?? PlayerError(.cutShort, "\(path): the microphone gave no sound.")
            }
            try track.finish(at: duration)
            do throws(WritingError) { try writer.finish() } catch { throw PlayerError(ExportError.output(error)) }
        } catch {
            track.markAsFinished()
            if track.hasBegun { try? writer.finish() }
            writer.cancel()
            throw error
        }
        if let failure { throw PlayerError(failure) }
        return track.report
    }
}
