internal import CLinux
internal import Glibc

/// State with the lock that guards it and a way to wait for its change.
///
/// A `pthread` mutex and condition rather than `Synchronization.Mutex`: decoding and display threads have to *wait*
/// for state with a deadline, and ThreadSanitizer sees `pthread` calls but not the futex inside the standard library.
///
/// Thread-safety: all of it. No callback may be made from inside a closure given to `withLock`.
@safe
public final class Monitor<State: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// Takes over `state`, which is reached only through the monitor from now on. Waits are measured on `CLOCK_MONOTONIC`.
    public init(_ state: consuming sending State) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        self.state = state
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` alone with the state. Keep it short: no system call that can block, no call to anybody's closure.
    public func withLock<R: ~Copyable, E: Error>(_ body: (inout State) throws(E) -> sending R) throws(E) -> sending R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// As `withLock`, then wakes every waiter.
    public func change<R: ~Copyable, E: Error>(_ body: (inout State) throws(E) -> sending R) throws(E) -> sending R {
        // After the lock is released: a waiter woken earlier would block on the lock and sleep a second time.
        defer { wakeWaiters() }
        return try withLock(body)
    }

    /// Wakes every waiter to check again, after a `withLock` that changed what they wait for. Costs no system call when there is none.
    public func wakeWaiters() { unsafe pthread_cond_broadcast(condition) }

    /// Calls `body` now and after each `change` until it returns a value, or until `deadline` (CLOCK_MONOTONIC;
    /// nil waits for ever) has passed, when the result is nil.
    public func wait<R: ~Copyable>(until deadline: HostTime? = nil, _ body: (inout State) -> sending R?) -> sending R? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if let deadline {
                if unsafe clinux_condition_wait(condition, mutex, max(deadline.nanoseconds, 0)) == ETIMEDOUT { return body(&state) }
            } else {
                unsafe pthread_cond_wait(condition, mutex)
            }
        }
    }
}
