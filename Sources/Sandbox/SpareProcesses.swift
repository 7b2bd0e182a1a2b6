internal import Media

/// Processes that are started before they are needed: loading libavcodec takes longer than opening a film.
///
/// Thread-safety: all of it.
package final class SpareProcesses: Sendable {
    package static let shared = SpareProcesses()

    /// What a process was started for.
    package struct Key: Sendable, Hashable {
        package var program: String
        /// The render node that it drives; nil for none.
        package var device: String?
        /// It decodes sound.
        package var isForSound: Bool

        package init(program: String, device: String? = nil, isForSound: Bool = false) {
            self.program = program
            self.device = device
            self.isForSound = isForSound
        }
    }

    /// At most one of each.
    private let spares = Monitor<[Key: SandboxedProcess]>([:])

    package init() {}

    /// Starts a process, unless one for the same purpose is waiting. A failure is not reported here: the caller that needs the process gets it.
    package func prepare(_ key: Key, _ start: () throws -> SandboxedProcess) {
        guard spares.withLock({ $0[key] == nil }), let process = try? start() else { return }
        let excess = spares.withLock { spares -> SandboxedProcess? in
            guard spares[key] == nil else { return process }
            spares[key] = process
            return nil
        }
        excess?.end()
    }

    /// Hands over the process that was started for this purpose, if there is one.
    package func take(_ key: Key) -> SandboxedProcess? { spares.withLock { $0.removeValue(forKey: key) } }
}
