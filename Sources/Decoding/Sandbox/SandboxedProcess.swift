internal import CLinux
internal import Glibc
package import Media
internal import SurfacePool

/// A decoder's or demuxer's process as the player sees it: its two sockets, the surfaces that a decoder may write, and its end.
///
/// It is never trusted. Every message is parsed with bounds; the first that makes no sense ends it. It ends by SIGKILL only, and what it could
/// write is given back to the pool after it is known to be dead.
///
/// Thread-safety: `kill`, and the ends of readers' uses, from any thread; the rest from one at a time, which receives.
package final class SandboxedProcess: Sendable {
    package let work: PacketSocket
    package let memory: PacketSocket
    /// It drives a device: pictures lie in memory that it gives, and are read out of it here where they cannot be mapped.
    let pictures: PacketSocket?
    let reader: PictureReader?
    let shared: Monitor<Shared>

    struct Shared: Sendable {
        /// nil for one that is no process (a test's thread), and after the end.
        var pid: Int32?
        var isEnded = false
        /// Surfaces lent to it, by its number for them.
        var lent: [UInt32: Surface] = [:]
        /// Bytes of those that it has made itself.
        var offeredBytes = 0
        var nextSlot: UInt32 = 0
        /// Readers' uses of its pictures that it has not heard the end of.
        var usesOutside = 0
        var cpuLimit: Int64 = 0
    }

    /// Speaks with whatever is at the other end of the sockets.
    /// - Parameter drivesDevice: It decodes on hardware.
    /// - Throws: when there can be no socket for its pictures.
    package init(work: PacketSocket, memory: PacketSocket, drivesDevice: Bool = false) throws(SystemError) {
        self.work = work
        self.memory = memory
        let ends = drivesDevice ? try PacketSocket.pair() : nil
        pictures = ends?.1
        reader = ends.map { PictureReader($0.0) }
        shared = Monitor(Shared())
    }

    deinit { end() }

    /// Starts `program`, a decoder or a demuxer. It confines itself, then waits to be told what to decode, or what to read.
    /// - Parameter device: The render node that a decoder is to drive; opened here, for the process cannot.
    package static func start(_ program: String, device: String? = nil) throws(DecodingError) -> SandboxedProcess {
        guard let device else { return try start(program, node: -1) }
        let node = try RenderNode.open(device)
        return try start(program, node: node.rawValue)
    }

    private static func start(_ program: String, node: Int32) throws(DecodingError) -> SandboxedProcess {
        do throws(SystemError) {
            let (work, itsWork) = try PacketSocket.pair(), (memory, itsMemory) = try PacketSocket.pair()
            let process = try SandboxedProcess(work: work, memory: memory, drivesDevice: node != -1)
            var pid: Int32 = 0
            let status = unsafe withCStrings([program, nil]) { arguments in
                unsafe withCStrings((node == -1 ? [] : RenderNode.environment) + [nil]) { environment in
                    unsafe clinux_spawn(program, arguments, environment, itsWork.rawValue, itsMemory.rawValue, node, &pid)
                }
            }
            guard status == 0 else { throw SystemError(status, "start \(program)") }
            process.shared.withLock { $0.pid = pid }
            process.allowProcessorTime()
            return process
        } catch {
            throw DecodingError(.sandbox, error.description, status: error.code)
        }
    }

    private static func withCStrings<R>(_ texts: [String?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        let copies = unsafe texts.map { text in unsafe text.flatMap { unsafe strdup($0) } }
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    package var pid: Int32? { shared.withLock { $0.pid } }

    // MARK: Time

    /// 20 seconds from its start to its first word: loading two hundred libraries from a slow disk on a busy machine.
    package static let startDeadline = HostSpan.seconds(20)

    /// Lets the process use more of the processor: `cpuAllowance` from what it has used so far.
    package func allowProcessorTime() {
        guard let pid else { return }
        let used = clinux_cpu_seconds_of(pid)
        guard used >= 0 else { return }
        let isNear = shared.withLock { shared in
            guard used + Self.cpuAllowance / 2 > shared.cpuLimit else { return false }
            shared.cpuLimit = used + Self.cpuAllowance
            return true
        }
        if isNear { _ = clinux_limit_cpu_of(pid, UInt64(used + Self.cpuAllowance)) }
    }

    /// 120 seconds, shared by all its threads: what a process spends that answers nothing before the kernel ends it.
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
        pictures?.shutDown()
    }

    /// Ends the process, waits until it is gone, and gives its surfaces back. Idempotent. The words say how it ended by itself;
    /// nil when this call ended it.
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
        // Not before its end is known: one whose sockets are shut ends by itself, as if nothing had been wrong with it.
        defer { shutDown() }
        var words: String?
        if let pid {
            var status: Int32 = 0
            if reap(pid, &status) {
                words = Self.words(for: status)
            } else {
                _ = Glibc.kill(pid, SIGKILL)
                // It may have been on its way out: then it did not die of this signal.
                if unsafe clinux_reap(pid, &status) == 0, status & 0x7f != SIGKILL { words = Self.words(for: status) }
            }
        }
        let lent = shared.withLock { shared in
            defer { shared.lent = [:] }
            return shared.lent
        }
        for surface in lent.values { surface.endWriting() }
        return words
    }

    /// Whether the process has ended by itself. One that has closed its sockets is on its way out: it gets a moment to report how it ended.
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
        if signal == SIGSYS { return "was killed for a system call that decoding has no use for" }
        if signal == SIGXCPU { return "was killed for using the processor without end" }
        return "was killed by signal \(signal) (\(unsafe String(cString: strsignal(signal))))"
    }
}
