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
    @usableFromInline let lock: MonitorLock
    /// In the lock's memory, behind it. Through a pointer the runtime does not check each access for exclusivity, which the lock assures.
    @usableFromInline let state: UnsafeMutablePointer<State>

    /// Takes over `state`, which is reached only through the monitor from now on. Waits are measured on `CLOCK_MONOTONIC`.
    public init(_ state: consuming sending State) {
        unsafe (lock, self.state) = MonitorLock.make(before: State.self)
        unsafe self.state.initialize(to: state)
    }

    deinit {
        unsafe state.deinitialize(count: 1)
        lock.destroy()
    }

    /// Runs `body` alone with the state. Keep it short: no system call that can block, no call to anybody's closure.
    @inlinable public func withLock<R: ~Copyable, E: Error>(_ body: (inout State) throws(E) -> sending R) throws(E) -> sending R {
        lock.lock()
        defer { lock.unlock() }
        return try unsafe body(&state.pointee)
    }

    /// As `withLock`, then wakes every waiter.
    @inlinable public func change<R: ~Copyable, E: Error>(_ body: (inout State) throws(E) -> sending R) throws(E) -> sending R {
        // After the lock is released: a waiter woken earlier would block on the lock and sleep a second time.
        defer { wakeWaiters() }
        return try withLock(body)
    }

    /// Wakes every waiter to check again, after a `withLock` that changed what they wait for. Costs no system call when there is none.
    @inlinable public func wakeWaiters() { lock.wakeWaiters() }

    /// Calls `body` now and after each `change` until it returns a value, or until `deadline` (CLOCK_MONOTONIC;
    /// nil waits for ever) has passed, when the result is nil.
    @inlinable public func wait<R: ~Copyable>(until deadline: HostTime? = nil, _ body: (inout State) -> sending R?) -> sending R? {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = unsafe body(&state.pointee) { return result }
            if !lock.wait(until: deadline) { return unsafe body(&state.pointee) }
        }
    }
}

/// The mutex and the condition of a monitor, in front of its state. Not generic, so that code inlined into other modules
/// reaches C functions through it and needs none of their headers.
@safe
@usableFromInline struct MonitorLock: @unchecked Sendable {
    private let memory: UnsafeMutableRawPointer

    /// In bytes from the mutex, which comes first; the state begins behind `byteCount`, at its own alignment.
    private static var conditionOffset: Int {
        unsafe aligned(MemoryLayout<pthread_mutex_t>.size, to: MemoryLayout<pthread_cond_t>.alignment)
    }
    private static var byteCount: Int { conditionOffset + MemoryLayout<pthread_cond_t>.size }

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> { unsafe memory.assumingMemoryBound(to: pthread_mutex_t.self) }
    private var condition: UnsafeMutablePointer<pthread_cond_t> {
        unsafe (memory + Self.conditionOffset).assumingMemoryBound(to: pthread_cond_t.self)
    }

    /// A lock, and memory for what it guards, which is not initialized. `destroy` frees both.
    static func make<State: ~Copyable>(before type: State.Type) -> (MonitorLock, UnsafeMutablePointer<State>) {
        let alignment = max(MemoryLayout<State>.alignment, 16), offset = aligned(byteCount, to: alignment)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: offset + MemoryLayout<State>.size, alignment: alignment)
        return unsafe (MonitorLock(memory), (memory + offset).bindMemory(to: State.self, capacity: 1))
    }

    private static func aligned(_ offset: Int, to alignment: Int) -> Int { (offset + alignment - 1) / alignment * alignment }

    private init(_ memory: UnsafeMutableRawPointer) {
        unsafe self.memory = memory
        unsafe memory.bindMemory(to: pthread_mutex_t.self, capacity: 1).initialize(to: pthread_mutex_t())
        unsafe (memory + Self.conditionOffset).bindMemory(to: pthread_cond_t.self, capacity: 1).initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    func destroy() {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe memory.deallocate()
    }

    @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }

    @usableFromInline func wakeWaiters() { unsafe pthread_cond_broadcast(condition) }

    /// Unlocks, waits to be woken, and locks again; nil waits for ever. False when the deadline has passed.
    @usableFromInline func wait(until deadline: HostTime?) -> Bool {
        guard let deadline else {
            unsafe pthread_cond_wait(condition, mutex)
            return true
        }
        return unsafe clinux_condition_wait(condition, mutex, max(deadline.nanoseconds, 0)) != ETIMEDOUT
    }
}
