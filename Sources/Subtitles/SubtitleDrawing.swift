internal import DisplaySink
internal import Sandbox

/// What an engine's thread tells to decode and draw, in this process or in one without rights.
///
/// Thread-safety: none; one thread.
protocol SubtitleDrawing: AnyObject {
    /// Carries an order out. Returns the times, in milliseconds, in which something else is shown now.
    func obey(_ order: SubtitleEngine.Order) -> [Range<Int64>]
    /// The image at a time of the chosen track, in milliseconds, and until when it stays as it is.
    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) -> (OverlayImage?, until: Int64)
    /// The lines and images of the chosen track that are on at a time, in milliseconds, whether they are shown or not.
    func lines(at time: Int64) -> SubtitleLines
}

/// Where subtitles are drawn.
enum SubtitleDrawings {
    /// Draws where the sandbox says. Without the program for it this process draws by itself under `SandboxPolicy.decoder`; under `full` and
    /// `require`, where a stranger's container is not read here either, nothing is drawn.
    ///
    /// - Parameters:
    ///   - notice: Is given sentences for the viewer.
    ///   - isCancelled: True ends every wait for a process.
    static func make(
        _ tracks: [SubtitleTrack], _ film: SubtitleEngine.Film, _ sandbox: SandboxOptions, notice: @escaping @Sendable (String) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> any SubtitleDrawing {
        let own = { SubtitleWorker(tracks, film) { notice($0.sentence(for: tracks)) } }
        guard sandbox.policy != .off else { return own() }
        do throws(SandboxError) {
            let program = try SandboxProgram.subtitles.find(sandbox.decoderPath)
            return SandboxedSubtitles(tracks, film, sandbox, notice: notice, isCancelled: isCancelled) { () throws(SandboxError) in
                try SandboxedProcess.start(program, environment: SandboxedSubtitles.environment)
            }
        } catch {
            guard sandbox.policy.includesDemuxer else { return own() }
            notice("Subtitles are not shown: \(error.description).")
            return NoSubtitles()
        }
    }
}

/// Draws nothing.
private final class NoSubtitles: SubtitleDrawing {
    func obey(_ order: SubtitleEngine.Order) -> [Range<Int64>] { [] }
    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) -> (OverlayImage?, until: Int64) { (nil, .max) }
    func lines(at time: Int64) -> SubtitleLines { SubtitleLines() }
}
