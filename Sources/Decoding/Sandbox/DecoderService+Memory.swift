internal import Glibc
internal import Media
internal import Sandbox

/// Decides which thread reads the memory socket of a decoder process.
///
/// Every frame that is no longer shown is a message. Waking a thread for each costs more than all other messages about a frame, so
/// the thread that decodes takes them between two samples. A separate thread takes them while decoding waits for a surface, and looks now
/// and then in case a sample takes long.
///
/// Thread-safety: all of it.
final class MemoryWatch: Sendable {
    private struct State {
        var isNeeded = true
        /// The thread that decodes waits for the next request, and for messages.
        var isIdle = false
        /// The thread has seen that, and sleeps until there is work.
        var isAsleep = false
    }

    private let state = Monitor(State())

    /// A quarter of the second within which a ping must be answered.
    static let look = HostSpan.milliseconds(250)

    /// From now on a message is awaited.
    func need() {
        let wasNeeded = state.withLock { state in
            defer { state.isNeeded = true }
            return state.isNeeded
        }
        if !wasNeeded { state.wakeWaiters() }
    }

    /// No message is awaited, unless decoding would have to wait for a surface now.
    func rest(unless session: DecompressionSession) {
        state.withLock { if !session.isExhausted { $0.isNeeded = false } }
    }

    func idle() { state.withLock { $0.isIdle = true } }

    func work() {
        let wasAsleep = state.withLock { state in
            defer { (state.isIdle, state.isAsleep) = (false, false) }
            return state.isAsleep
        }
        if wasAsleep { state.wakeWaiters() }
    }

    /// Returns when there is reason to look for messages; true when they are to be waited for.
    func wait() -> Bool {
        let isAsleep = state.withLock { state in
            state.isAsleep = state.isIdle
            return state.isAsleep
        }
        if isAsleep { state.wait { $0.isAsleep ? nil : () } }
        return state.wait(until: MonotonicClock.shared.now() + Self.look) { $0.isNeeded ? true : nil } ?? false
    }
}

extension DecoderService {
    /// Reads the memory socket whenever the thread that decodes cannot, until the player goes away.
    func serveMemory() throws {
        while true {
            if watch.wait() {
                var waiting = [PollDescriptor(fd: memory.rawValue, interest: .readable)]
                _ = try pollDescriptors(&waiting, until: MonotonicClock.shared.now() + MemoryWatch.look)
            }
            tell()
            guard try takeMemory() else { return }
        }
    }

    /// Takes every message that has come on the memory socket; false when the player has gone.
    func takeMemory() throws -> Bool {
        while true {
            switch try memory.receive() {
            case .end: return false
            case .nothing: return true
            case .message(let bytes, var descriptors):
                switch try MemoryGrant(bytes[...]) {
                case .granted(let slot, let kind):
                    guard let descriptor = descriptors.takeFirst() else { throw Ending.connection }
                    allocator.granted(slot: slot, kind: kind, descriptor, backing: descriptors.takeSecond())
                case .denied(let sentence): allocator.denied(sentence)
                case .released(let slot):
                    // The frame ends its use outside the lock.
                    let ended = shared.withLock { $0.lent[slot]?.popLast() }
                    guard ended != nil else { throw Ending.connection }
                case .interrupt:
                    shared.withLock { $0.session }?.interrupt()
                    shared.change { $0.interruptions &+= 1 }
                case .ping:
                    var writer = WireWriter()
                    writer.put(.pong(isExhausted: shared.withLock { $0.session }?.isExhausted ?? false))
                    try memory.send(writer, waits: true)
                }
            }
        }
    }
}
