internal import CLinux
internal import Glibc
package import Media

/// A process without rights as the program that started it sees it: its sockets, its processor time and its end.
///
/// It is never trusted. Every message is parsed with bounds, and the first malformed one ends the process. It is ended with SIGKILL only.
///
/// Thread-safety: `kill` from any thread; the rest from one at a time, which receives.
package final class SandboxedProcess: Sendable {
    /// What it is asked to do, and its answers.
    package let work: PacketSocket
    /// The surfaces that a decoder writes.
    package let memory: PacketSocket
    private let shared: Monitor<Shared>

    private struct Shared: Sendable {
        /// nil for a test's thread, which is not a process, and after the end.
        var pid: Int32?
        var isEnded = false
        /// Seconds.
        var cpuLimit: Int64 = 0
        /// When the processor time that it has used is looked at next.
        var nextLook = HostTime(nanoseconds: 0)
    }

    /// Speaks with whatever is at the other end of the sockets.
    package init(work: PacketSocket, memory: PacketSocket) {
        self.work = work
        self.memory = memory
        shared = Monitor(Shared())
    }

    deinit { end() }

    /// Starts `program`. It confines itself, says what it has given up, then waits to be told what to do.
    ///
    /// - Parameters:
    ///   - environment: All of it, as `NAME=value`.
    ///   - descriptor: Borrowed; the process has it as descriptor 5. -1: none.
    /// - Throws: `.outOfResources` when the system has no descriptor, memory or process left; `.unavailable` when the program does not start.
    package static func start(_ program: String, environment: [String] = [], granting descriptor: Int32 = -1) throws(SandboxError) -> SandboxedProcess
    {
        do throws(SystemError) {
            let (work, itsWork) = try PacketSocket.pair(), (memory, itsMemory) = try PacketSocket.pair()
            let process = SandboxedProcess(work: work, memory: memory)
            let status = StartingThread.shared.run {
                var pid: Int32 = 0
                let status = unsafe withCStrings([program, nil]) { arguments in
                    unsafe withCStrings(environment + [nil]) { environment in
                        unsafe clinux_spawn(program, arguments, environment, itsWork.rawValue, itsMemory.rawValue, descriptor, &pid)
                    }
                }
                if status == 0 { process.shared.withLock { $0.pid = pid } }
                return status
            }
            guard status == 0 else { throw SystemError(status, "start \(program)") }
            process.allowProcessorTime()
            return process
        } catch {
            // Whatever else the system says may pass.
            let isMissing = [ENOENT, ENOTDIR, EACCES, ENOEXEC].contains(error.code)
            throw SandboxError(isMissing ? .unavailable : .outOfResources, error.description, status: error.code)
        }
    }

    private static func withCStrings<R>(_ texts: [String?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        let copies = unsafe texts.map { text in unsafe text.flatMap { unsafe strdup($0) } }
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// nil after the end.
    package var pid: Int32? { shared.withLock { $0.pid } }

    // MARK: Time

    /// Whether somebody has stopped the process (SIGSTOP). Nobody but an attacker does that to one process and not to the program.
    var isStopped: Bool { pid.map { clinux_is_stopped($0) != 0 } ?? false }

    /// 20 seconds from its start to its first message: loading two hundred libraries from a slow disk on a busy machine.
    package static let startDeadline = HostSpan.seconds(20)

    /// Moves the limit of the process's processor time to `cpuAllowance` beyond what it has used so far. Looks at most four times a second, in
    /// which even 64 threads use no more than a part of it.
    package func allowProcessorTime() {
        let now = MonotonicClock.shared.now()
        let isDue = shared.withLock { shared in
            guard now >= shared.nextLook else { return false }
            shared.nextLook = now + .milliseconds(250)
            return true
        }
        guard isDue, let pid else { return }
        let used = clinux_cpu_seconds_of(pid)
        guard used >= 0 else { return }
        let isNear = shared.withLock { shared in
            guard used + Self.cpuAllowance / 2 > shared.cpuLimit else { return false }
            shared.cpuLimit = used + Self.cpuAllowance
            return true
        }
        if isNear { _ = clinux_limit_cpu_of(pid, UInt64(used + Self.cpuAllowance)) }
    }

    /// 120 seconds, shared by all its threads: after that much computing without an answer the kernel ends the process.
    private static let cpuAllowance: Int64 = 120

    // MARK: End

    /// Makes the process end soon, from any thread; `end` follows on the receiving one.
    package func kill() {
        shared.withLock { shared in
            if let pid = shared.pid { _ = Glibc.kill(pid, SIGKILL) }
        }
        shutDown()
    }

    private func shutDown() {
        work.shutDown()
        memory.shutDown()
    }

    /// Ends the process and waits until it is gone. Idempotent.
    /// - Returns: how it ended by itself; nil when this call ended it.
    @discardableResult
    package func end() -> String? {
        let (pid, wasEnded) = shared.withLock { shared in
            defer {
                shared.isEnded = true
                shared.pid = nil
            }
            return (shared.pid, shared.isEnded)
        }
        guard !wasEnded else { return nil }
        // Not before its end is known: a process whose sockets are shut down exits normally, which would hide what was wrong with it.
        defer { shutDown() }
        var words: String?
        if let pid {
            var status: Int32 = 0
            if reap(pid, &status) {
                words = Self.words(for: status)
            } else {
                _ = Glibc.kill(pid, SIGKILL)
                // It may have been exiting already: then it did not die of this signal.
                if unsafe clinux_reap(pid, &status) == 0, status & 0x7f != SIGKILL { words = Self.words(for: status) }
            }
        }
        return words
    }

    /// Whether the process has ended by itself. A process that has closed its sockets is exiting: it gets a moment, so that its status can be read.
    private func reap(_ pid: Int32, _ status: inout Int32) -> Bool {
        if unsafe clinux_reap_now(pid, &status) == 1 { return true }
        var socket = [PollDescriptor(fd: work.rawValue, interest: .readable)]
        guard let count = try? pollDescriptors(&socket, until: MonotonicClock.shared.now()), count > 0, socket[0].ready.contains(.hangUp) else {
            return false
        }
        for _ in 0..<Self.looks {
            usleep(Self.pause)
            if unsafe clinux_reap_now(pid, &status) == 1 { return true }
        }
        return false
    }

    /// A tenth of a second in all.
    private static let looks = 50
    private static let pause: UInt32 = 2_000

    private static func words(for status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "ended with code \((status >> 8) & 0xff)" }
        if signal == SIGSYS { return "was killed for a system call that its work does not need" }
        if signal == SIGXCPU { return "was killed for computing without end" }
        return "was killed by signal \(signal) (\(unsafe String(cString: strsignal(signal))))"
    }
}
