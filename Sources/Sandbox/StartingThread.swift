internal import Media

/// The thread that starts processes. A process asks to be killed when this thread ends, which is when the program ends: the kernel watches
/// the thread that started a process, and the program's other threads come and go.
///
/// Thread-safety: all of it. It is started with the first process and runs as long as the program.
final class StartingThread: Sendable {
    static let shared = StartingThread()

    private let jobs = Monitor<[@Sendable () -> Void]>([])
    private let thread: LoopThread

    private init() {
        thread = LoopThread(name: "processes") { [jobs] in
            while true { jobs.wait { $0.isEmpty ? nil : $0.removeFirst() }?() }
        }
    }

    /// Runs `body` on the thread and returns its result.
    func run(_ body: @escaping @Sendable () -> Int32) -> Int32 {
        let result = Monitor<Int32?>(nil)
        jobs.change { jobs in
            jobs.append {
                let value = body()
                result.change { $0 = value }
            }
        }
        return result.wait { $0 } ?? -1
    }
}
