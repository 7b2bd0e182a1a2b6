internal import Glibc
internal import Media
internal import Sandbox
internal import SurfacePool

/// The pool whose surfaces a session's decoder processes write, made when the first asks for one.
///
/// Thread-safety: all of it.
final class LentSurfaces: Sendable {
    private let pool = Monitor<SurfacePool?>(nil)
    private let allocator: any SurfaceAllocator
    private let maximumCount: Int
    private let maximumByteCount: Int

    init(allocator: any SurfaceAllocator, maximumCount: Int, maximumByteCount: Int) {
        self.allocator = allocator
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// For surfaces that a process gives, too. `keptByteCount`: what a process may have given back and may still hold a descriptor of. Another
    /// process takes its place at a sync sample, when half of that is reached.
    var limits: (count: Int, byteCount: Int, keptByteCount: Int) {
        (maximumCount, maximumByteCount, maximumByteCount.multipliedReportingOverflow(by: 4).overflow ? .max : 4 * maximumByteCount)
    }

    /// Lends the process a surface of the layout that it asks for, or tells it why not.
    func grant(_ layout: SurfaceLayout, to process: DecoderProcess) throws(SystemError) {
        guard !process.drivesDevice else { return try deny("a decoder on hardware has the driver's memory", process) }
        let pool = pool.withLock { pool in
            let there =
                pool ?? SurfacePool(layout: layout, allocator: allocator, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
            pool = there
            return there
        }
        if pool.layout != layout { pool.retire(layout) }
        var sentence = "a frame of \(layout.byteCount) bytes goes beyond the limit of \(maximumByteCount) bytes for all frames"
        var surface: Surface?
        do throws(SurfaceError) { surface = try pool.acquire()?.detach() } catch { sentence = error.description }
        if let surface { return try process.lend(surface) }
        try deny(sentence, process)
    }

    private func deny(_ sentence: String, _ process: DecoderProcess) throws(SystemError) {
        var writer = WireWriter()
        writer.put(.denied(sentence))
        try process.memory.send(writer)
    }

    var statistics: SurfacePoolStatistics { pool.withLock { $0 }?.statistics ?? SurfacePoolStatistics(capacity: maximumCount) }
}

/// Waits for a decoder process's answers to one request, lends it memory meanwhile, and ends the wait when it hangs.
///
/// Thread-safety: one thread at a time.
final class DecoderListener {
    private let process: DecoderProcess
    private let surfaces: LentSurfaces
    private let deadline: HostSpan
    /// What is left of the time that the process has for the request, whatever it says meanwhile. Time outside of `next` does not count.
    private var left: HostSpan
    /// When it was asked whether it lives, its time being over.
    private var pinged: HostTime?
    /// Answers that came with the last one.
    private var rest: WireReader?
    private var answerCount = 0

    /// - Parameter deadline: How long the process may take for the whole request. Waiting for readers that hold surfaces does not count.
    init(process: DecoderProcess, surfaces: LentSurfaces, deadline: HostSpan) {
        self.process = process
        self.surfaces = surfaces
        self.deadline = deadline
        left = deadline
    }

    /// The next answer on the work socket.
    /// - Throws: when the process has gone, hangs, or sends a malformed message. The caller ends it.
    func next() throws(ProcessEnd) -> DecoderAnswer {
        answerCount += 1
        guard answerCount <= Self.mostAnswers else { throw ProcessEnd("answers without end") }
        if let answer = try following() { return answer }
        var since = MonotonicClock.shared.now()
        defer { left = left - (MonotonicClock.shared.now() - since) }
        var waiting = [
            PollDescriptor(fd: process.work.rawValue, interest: .readable), PollDescriptor(fd: process.memory.rawValue, interest: .readable),
        ]
        while true {
            let now = MonotonicClock.shared.now()
            if now >= since + left { try ping(now) }
            guard try process.wait(for: &waiting, until: max(now, since + left)) else { continue }
            // Surfaces given back come before the frames that follow them.
            if !waiting[1].ready.isEmpty {
                let news = try serveMemory()
                if news.isWaitingForReaders { (since, left, pinged) = (MonotonicClock.shared.now(), deadline, nil) }
                if news.hasMore { continue }
            }
            if !waiting[0].ready.isEmpty, let answer = try answer() { return answer }
        }
    }

    /// Its time is over: asks whether it waits for readers. The second time it is ended.
    private func ping(_ now: HostTime) throws(ProcessEnd) {
        guard pinged == nil else { throw .hung }
        pinged = now
        left = left + min(deadline, Self.pingPatience)
        var writer = WireWriter()
        writer.put(.ping)
        do throws(SystemError) { try process.memory.send(writer) } catch { throw ProcessEnd(error) }
    }

    /// Many times what a request is answered with: the samples that the session may have open, and the frames that a decoder holds back.
    private static let mostAnswers = 4 * SampleLedger.capacity + 1024

    /// One second: its memory thread does nothing but answer.
    private static let pingPatience = HostSpan.seconds(1)

    private func answer() throws(ProcessEnd) -> DecoderAnswer? {
        let received: PacketSocket.Received
        do throws(SystemError) { received = try process.work.receive() } catch { throw ProcessEnd(error) }
        switch consume received {
        case .nothing: return nil
        case .end: throw .gone
        case .message(let bytes, _):
            rest = WireReader(bytes[...])
            return try following()
        }
    }

    /// The next answer of the message received last.
    private func following() throws(ProcessEnd) -> DecoderAnswer? {
        guard var reader = rest else { return nil }
        do throws(WireError) {
            let answer = try DecoderAnswer(&reader)
            rest = reader.isAtEnd ? nil : reader
            return answer
        } catch {
            throw ProcessEnd(error)
        }
    }

    /// Handles the requests that have arrived: some, so that a flood of them does not hide that time is over.
    private func serveMemory() throws(ProcessEnd) -> (isWaitingForReaders: Bool, hasMore: Bool) {
        var isWaitingForReaders = false
        for _ in 0..<Self.requestsAtOnce {
            let received: PacketSocket.Received
            do throws(SystemError) { received = try process.memory.receive() } catch { throw ProcessEnd(error) }
            switch consume received {
            case .nothing: return (isWaitingForReaders, false)
            case .end: throw .gone
            case .message(let bytes, var descriptors):
                let wish: MemoryWish
                do throws(WireError) { wish = try MemoryWish(bytes[...]) } catch { throw ProcessEnd(error) }
                switch wish {
                case .want(let layout):
                    do throws(SystemError) { try surfaces.grant(layout, to: process) } catch { throw ProcessEnd(error) }
                case .offer(let slot, let layout):
                    guard let descriptor = descriptors.takeFirst() else { throw ProcessEnd("gives no memory for its frames") }
                    try process.adopt(descriptor, slot: slot, layout, surfaces.limits)
                case .gone(let slot):
                    guard process.takeBack(slot: slot) else { throw ProcessEnd("gives back memory that it was not lent") }
                    guard process.givenByteCount <= surfaces.limits.keptByteCount else { throw ProcessEnd("may keep more memory than it is lent") }
                case .pong(let isExhausted):
                    // One that says so of itself, or while nobody could give anything back, lies.
                    guard isExhausted, process.hasReaders else { throw .hung }
                    isWaitingForReaders = process.hasSeveralUses
                }
            }
        }
        return (isWaitingForReaders, true)
    }

    private static let requestsAtOnce = 64
}
