package import Media

extension SandboxedProcess {
    /// How often a program that waits for an answer looks whether the process is stopped: a second.
    package static let look = HostSpan.seconds(1)
    /// 50 ms between looks at the cancellation: soon enough for a person.
    private static let patience = HostSpan.milliseconds(50)

    /// Waits until one of the sockets has something.
    ///
    /// - Parameters:
    ///   - limit: When the process's time is over.
    ///   - interval: How often `isCancelled` is called, on this thread; at least once a second.
    ///   - isCancelled: True ends the wait.
    /// - Returns: False when the time is over.
    /// - Throws: `.stopped` when somebody has stopped the process, and `.unneeded` after a cancellation.
    package func wait(
        for sockets: inout [PollDescriptor], until limit: HostTime, every interval: HostSpan = look, isCancelled: () -> Bool = { false }
    ) throws(ProcessEnd) -> Bool {
        var now = MonotonicClock.shared.now(), look = now + Self.look
        while true {
            if isCancelled() { throw .unneeded }
            do throws(SystemError) {
                if try pollDescriptors(&sockets, until: min(limit, look, now + interval)) > 0 { return true }
            } catch {
                throw ProcessEnd(error)
            }
            now = MonotonicClock.shared.now()
            if now >= limit { return false }
            if now >= look {
                if isStopped { throw .stopped }
                look = now + Self.look
            }
        }
    }

    /// Waits for the next message on the work socket.
    ///
    /// - Parameters: As of `wait`.
    /// - Throws: When the process has gone, is stopped, or its time is over, and after a cancellation. The caller ends it.
    package func nextMessage(until limit: HostTime, isCancelled: () -> Bool) throws(ProcessEnd) -> [UInt8] {
        var waiting = [PollDescriptor(fd: work.rawValue, interest: .readable)]
        while true {
            let received: PacketSocket.Received
            do throws(SystemError) { received = try work.receive() } catch { throw ProcessEnd(error) }
            switch consume received {
            case .message(let bytes, _): return bytes
            case .end: throw .gone
            case .nothing: if try !wait(for: &waiting, until: limit, every: Self.patience, isCancelled: isCancelled) { throw .hung }
            }
        }
    }
}
