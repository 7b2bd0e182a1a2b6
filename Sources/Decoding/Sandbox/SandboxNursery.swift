internal import Media

/// Decoder and demuxer processes started ahead of need: loading libavcodec takes longer than opening a film.
///
/// Thread-safety: all of it.
package final class SandboxNursery: Sendable {
    package static let shared = SandboxNursery()

    /// By program, at most one of each.
    private let spares = Monitor<[String: SandboxedProcess]>([:])

    /// Starts one, unless one is waiting. Its failure is told by who needs it.
    package func prepare(_ program: String) {
        guard spares.withLock({ $0[program] == nil }), let process = try? SandboxedProcess.start(program) else { return }
        let excess = spares.withLock { spares -> SandboxedProcess? in
            guard spares[program] == nil else { return process }
            spares[program] = process
            return nil
        }
        excess?.end()
    }

    package func take(_ program: String) -> SandboxedProcess? { spares.withLock { $0.removeValue(forKey: program) } }
}
