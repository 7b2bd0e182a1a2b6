internal import Glibc
internal import Media

/// A device that writes into memory a moment after it was told to, and then signals the fence that readers wait for.
public final class DelayedWrite: Sendable {
    private let thread: LoopThread
    private let isInTime = Monitor(false)

    /// Begins: `write` runs on a thread of its own.
    public init(_ fence: PendingFence, _ write: @escaping @Sendable () throws -> Void) {
        let isInTime = isInTime
        thread = LoopThread(name: "test-device") {
            // A reader that does not wait needs some time to show what is not there yet. It decides what a defect shows, not what passes.
            usleep(300_000)
            try? write()
            let isSignalled = (try? fence.signal()) ?? false
            isInTime.withLock { $0 = isSignalled }
        }
    }

    /// Waits for the end. False when the kernel ended the fence before the write was done: what a reader saw then proves nothing.
    public func finish() -> Bool {
        thread.join()
        return isInTime.withLock { $0 }
    }

    /// Runs `attempt` until it comes back with a write that was in time, and checks what it saw.
    public static func retry<Seen>(_ attempt: () throws -> (seen: Seen, write: DelayedWrite), _ check: (Seen) throws -> Void) throws {
        for _ in 0..<50 {
            let (seen, write) = try attempt()
            if write.finish() { return try check(seen) }
        }
        throw SystemError(ETIMEDOUT, "write within a fence's ten seconds, in 50 attempts")
    }
}
