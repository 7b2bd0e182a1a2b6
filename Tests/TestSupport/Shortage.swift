internal import Glibc
internal import Media

/// Runs something while ever more descriptors are left to the process. For processes of a single test.
public enum Shortage {
    public struct Outcomes: Sendable {
        public var successes = 0
        public var shortages = 0
        /// Errors that name another cause.
        public var others: [String] = []
    }

    /// Takes all descriptors that the process may have, and returns them.
    public static func takeDescriptors() -> [Int32] {
        var fillers: [Int32] = [], limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        unsafe getrlimit(resource, &limit)
        limit.rlim_cur = min(limit.rlim_cur, 512)
        unsafe setrlimit(resource, &limit)
        while case let filler = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC), filler >= 0 { fillers.append(filler) }
        return fillers
    }

    /// How much of one processor the process takes while `body` runs.
    public static func load<Outcome>(_ body: () -> Outcome) -> (outcome: Outcome, load: Double) {
        let used = clock(), began = MonotonicClock.shared.now(), outcome = body()
        let busy = Double(clock() - used) / Double(CLOCKS_PER_SEC)
        return (outcome, busy / (MonotonicClock.shared.now() - began).seconds)
    }

    /// From no descriptor left to thirty.
    public static func outcomes<Failure: Error>(
        _ body: () throws(Failure) -> Void, isShortage: (Failure) -> Bool
    ) -> Outcomes {
        var outcomes = Outcomes(), fillers = takeDescriptors()
        for room in 0...30 {
            do throws(Failure) {
                try body()
                outcomes.successes += 1
            } catch {
                if isShortage(error) { outcomes.shortages += 1 } else { outcomes.others.append("with \(room): \(error)") }
            }
            if let filler = fillers.popLast() { close(filler) }
        }
        return outcomes
    }
}
