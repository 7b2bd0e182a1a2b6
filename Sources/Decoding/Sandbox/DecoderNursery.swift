internal import Media

/// A decoder process started ahead of need: loading libavcodec takes longer than opening a film.
///
/// Thread-safety: all of it.
final class DecoderNursery: Sendable {
    static let shared = DecoderNursery()

    private struct Spare: Sendable {
        var program: String
        var role: DecoderProcess.Role
        var process: DecoderProcess
    }

    /// At most one for each role.
    private let spares = Monitor<[Spare]>([])

    /// Starts one, unless one is waiting. Its failure is told by who needs it.
    func prepare(_ program: String, as role: DecoderProcess.Role = .decoder) {
        guard !spares.withLock({ $0.contains { $0.program == program && $0.role == role } }),
            let process = try? DecoderProcess.start(program, as: role)
        else { return }
        let old = spares.withLock { spares in
            let old = spares.firstIndex { $0.role == role }.map { spares.remove(at: $0) }
            spares.append(Spare(program: program, role: role, process: process))
            return old
        }
        old?.process.end()
    }

    func take(_ program: String, as role: DecoderProcess.Role = .decoder) -> DecoderProcess? {
        spares.withLock { spares in spares.firstIndex { $0.program == program && $0.role == role }.map { spares.remove(at: $0) } }?.process
    }
}
