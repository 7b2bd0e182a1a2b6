internal import CLinux
internal import Glibc

/// A thread with a name that runs one function to its end, such as an event loop; its owner tells the loop to stop (by an
/// `EventFD`, say) and then joins it.
///
/// Thread-safety: any thread may `join`, except the thread itself. The corresponding C functions are `pthread_create(3)` and `pthread_join(3)`.
@safe
public final class LoopThread: Sendable {
    private enum State { case running(pthread_t), joining, joined }
    private let state: Monitor<State>

    /// Starts the thread. `name` is what `ps -L` and debuggers show; Linux keeps its first 15 bytes. The thread blocks all
    /// signals, so that they reach the program's own threads, except those of its own faults, which would end the program without a word.
    ///
    /// The system refusing a thread is fatal: a player without its threads can do nothing. See `onRefusal`.
    ///
    /// - Parameter isPrompt: For a thread that sleeps, does little and is waited for, such as one that takes a camera's frames: where processors are
    ///   short it runs soon after it is woken, for a shorter time. Linux has this since 6.12; elsewhere nothing is different.
    public init(name: String, isPrompt: Bool = false, _ body: @escaping @Sendable () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, isPrompt: isPrompt, body: body))
        var thread = pthread_t()
        var signals = sigset_t(), before = sigset_t()
        unsafe sigfillset(&signals)
        for fault in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP] { unsafe sigdelset(&signals, fault) }
        unsafe pthread_sigmask(SIG_SETMASK, &signals, &before)
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                unsafe clinux_set_thread_name(start.name)
                if start.isPrompt { clinux_prompt_thread() }
                start.body()
                return nil
            }, unsafe start.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        if result != 0 {
            if let refusal = Self.refusal.withLock({ $0 }) { refusal.body(name, result) }
            fatalError("cannot start thread \(name): error \(result)")
        }
        state = Monitor(.running(thread))
    }

    private struct Refusal: Sendable { let body: @Sendable (String, Int32) -> Never }
    private static let refusal = Monitor<Refusal?>(nil)

    /// Lets a program end in its own way when the system refuses a thread, because of a limit or for want of memory. `body` gets the thread's name
    /// and the error number, on the thread that wanted another one.
    package static func onRefusal(_ body: @escaping @Sendable (_ name: String, _ error: Int32) -> Never) {
        refusal.withLock { $0 = Refusal(body: body) }
    }

    /// A thread that nobody joined cleans up after itself when it ends.
    deinit {
        if case .running(let thread) = state.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits until the thread's function has returned. Idempotent; concurrent callers all wait.
    public func join() {
        let thread: pthread_t? = state.withLock { state in
            guard case .running(let thread) = state else { return nil }
            state = .joining
            return thread
        }
        if let thread {
            let result = pthread_join(thread, nil)
            precondition(result == 0, "a thread cannot join itself")
            state.change { $0 = .joined }
        } else {
            let _: Void? = state.wait { if case .joined = $0 { () } else { nil } }
        }
    }

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool {
        if case .running(let thread) = state.withLock({ $0 }) { pthread_equal(thread, pthread_self()) != 0 } else { false }
    }

    private final class Start: Sendable {
        let name: String
        let isPrompt: Bool
        let body: @Sendable () -> Void
        init(name: String, isPrompt: Bool, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.isPrompt = isPrompt
            self.body = body
        }
    }
}
