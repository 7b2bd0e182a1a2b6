internal import Media

/// The `present` thread of a sink without a display server: asks the queue, sleeps until the next refresh or until woken, and stops
/// when told.
final class PresentLoop: Sendable {
    private let bell: EventFD
    private let shared = Monitor(Shared())

    private struct Shared: Sendable {
        var thread: LoopThread?
        var isStopping = false
        var queue: PresentationQueue?
    }

    init() throws(SinkError) {
        do { bell = try EventFD() } catch { throw SinkError(.system, "The display thread cannot be set up: \(error).") }
    }

    var isStopping: Bool { shared.withLock { $0.isStopping } }

    /// Runs `body` on the thread; it returns when `isStopping` is true, asking after each `sleep`.
    func start(_ queue: PresentationQueue, _ body: @escaping @Sendable () -> Void) {
        let thread = LoopThread(name: "present") { [bell] in
            queue.setWake { bell.signal() }
            body()
            queue.setWake(nil)
        }
        shared.withLock { shared in
            shared.thread = thread
            shared.queue = queue
        }
    }

    func stop() {
        shared.withLock { $0.isStopping = true }
        bell.signal()
        shared.withLock { $0.thread.take() }?.join()
    }

    /// Until `deadline` (nil: for ever), or until woken.
    func sleep(until deadline: HostTime?) {
        var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable)]
        _ = try? pollDescriptors(&descriptors, until: deadline)
        bell.drain()
    }
}
