internal import Media

/// The thread of a session, and the one `start` or `stop` that may be under way.
struct SessionThread: Sendable {
    var thread: LoopThread?
    var bell: EventFD?
    var isStopping = false
    /// A `start` or `stop` is under way.
    var isBusy = false
}

/// What a session's lock guards.
protocol SessionGuarded: Sendable {
    var run: SessionThread { get set }
}

extension Monitor where State: SessionGuarded {
    /// Waits for another `start` or `stop`, stops the thread and joins it.
    /// - Parameter body: Notes it, with the lock held.
    func stop<R>(_ body: (inout State) -> sending R) -> sending R {
        let _: Void? = wait { guarded in
            if guarded.run.isBusy { return nil }
            guarded.run.isBusy = true
            return ()
        }
        let (thread, bell) = withLock { guarded in
            guarded.run.isStopping = true
            defer { guarded.run.thread = nil }
            return (guarded.run.thread, guarded.run.bell)
        }
        bell?.signal()
        thread?.join()
        return change { guarded in
            guarded.run = SessionThread()
            return body(&guarded)
        }
    }
}
