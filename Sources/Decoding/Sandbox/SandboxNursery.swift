internal import Media

/// Decoder and demuxer processes started ahead of need: loading libavcodec takes longer than opening a film.
///
/// Thread-safety: all of it.
package final class SandboxNursery: Sendable {
    package static let shared = SandboxNursery()

    /// By program and render node, at most one of each.
    private let spares = Monitor<[Key: SandboxedProcess]>([:])

    private struct Key: Hashable {
        var program: String
        var device: String?
    }

    /// Starts one, unless one is waiting. Its failure is told by who needs it.
    package func prepare(_ program: String, device: String? = nil) {
        let key = Key(program: program, device: device)
        guard spares.withLock({ $0[key] == nil }), let process = try? SandboxedProcess.start(program, device: device) else { return }
        let excess = spares.withLock { spares -> SandboxedProcess? in
            guard spares[key] == nil else { return process }
            spares[key] = process
            return nil
        }
        excess?.end()
    }

    package func take(_ program: String, device: String? = nil) -> SandboxedProcess? {
        spares.withLock { $0.removeValue(forKey: Key(program: program, device: device)) }
    }
}
