package import Media

/// Where threads wait for a surface, and from where their waits are ended: a pool, or what takes its surfaces from one.
package protocol SurfaceWaiting: AnyObject, Sendable {
    func interrupt()
    func resume()
}

extension SurfacePool: SurfaceWaiting {}

/// What is known beside a `SurfaceWaiting` that may be made, or replaced, while no thread is to wait for it.
package protocol InterruptibleState {
    associatedtype Waited: SurfaceWaiting
    var isInterrupted: Bool { get set }
    /// Nil: none yet. Whoever makes one interrupts it when `isInterrupted`.
    var waited: Waited? { get }
}

extension Monitor where State: InterruptibleState {
    /// Ends the waits for a surface, now and until `resume`.
    package func interrupt() {
        withLock { state -> State.Waited? in
            state.isInterrupted = true
            return state.waited
        }?.interrupt()
    }

    /// Ends what `interrupt` began.
    package func resume() {
        withLock { state -> State.Waited? in
            state.isInterrupted = false
            return state.waited
        }?.resume()
    }
}
