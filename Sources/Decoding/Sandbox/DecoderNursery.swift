internal import Media

/// A decoder process started ahead of need: loading libavcodec takes longer than opening a film.
///
/// Thread-safety: all of it.
final class DecoderNursery: Sendable {
    static let shared = DecoderNursery()

    private struct Spare: Sendable {
        var program: String
        var process: DecoderProcess
    }

    private let spare = Monitor<Spare?>(nil)

    /// Starts one, unless one is waiting. Its failure is told by who needs it.
    func prepare(_ program: String) {
        guard spare.withLock({ $0?.program != program }), let process = try? DecoderProcess.start(program) else { return }
        let old = spare.withLock { spare in
            let old = spare
            spare = Spare(program: program, process: process)
            return old
        }
        old?.process.end()
    }

    func take(_ program: String) -> DecoderProcess? {
        spare.withLock { $0?.program == program ? $0.take() : nil }?.process
    }
}
