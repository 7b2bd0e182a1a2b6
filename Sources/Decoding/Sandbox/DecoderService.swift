internal import Glibc
internal import Media
internal import SampleQueue
package import Sandbox
internal import SoundDecoding
internal import SurfacePool

/// What a decoder process does once it is confined: decodes the samples that come in on the work socket into surfaces that the player lends, or
/// that the driver of a granted device makes and the player is given, until the player closes the connection. A first message that asks for sound
/// makes it decode that instead (`SoundService`).
///
/// Two threads besides libavcodec's: the one that calls `run` decodes; `memory` reads the memory socket while decoding waits for a surface.
/// With a device a third, `surfaces`, copies what the player cannot map.
package final class DecoderService: Sendable {
    private let work: PacketSocket
    let memory: PacketSocket
    let allocator: GrantingAllocator
    private let device: GrantedDevice?
    private let offered: OfferedSurfaces
    let shared = Monitor(Shared())
    let watch: MemoryWatch
    /// Answers that were not sent yet: they go with the next `done`, or when the next frame has to wait. The lock
    /// is held while it is sent, for the order.
    private let outbox = Monitor(WireWriter())

    struct Shared: Sendable {
        var session: DecompressionSession?
        var copying: LoopThread?
        /// Frames that the player's readers use, by slot.
        var lent: [UInt32: [SharedFrame]] = [:]
        /// Samples whose bytes libavcodec no longer uses, not yet reported.
        var freed: [UInt32] = []
        /// Received so far.
        var interruptions: UInt32 = 0
    }

    /// - Parameters:
    ///   - work: The descriptor of a socket, owned by the service from now on; `memory` too.
    ///   - device: To decode on; nil decodes in software.
    package init(work: Int32, memory: Int32, device: GrantedDevice? = nil) {
        self.work = PacketSocket(adopting: OwnedFD(adopting: work))
        self.memory = PacketSocket(adopting: OwnedFD(adopting: memory))
        let watch = MemoryWatch()
        self.watch = watch
        allocator = GrantingAllocator(socket: self.memory) { watch.need() }
        self.device = device
        offered = OfferedSurfaces(socket: self.memory)
    }

    /// Serves until the player goes away. A message that cannot be understood ends the process: the player would not send it.
    ///
    /// - Parameter report: What the process has given up; the first message to the player.
    package func run(_ report: SandboxReport) -> Never {
        var hello = WireWriter()
        hello.put(DecoderAnswer.confined(report))
        do throws(SystemError) { try work.send(hello, waits: true) } catch { Self.end(0) }
        let reader = LoopThread(name: "memory") { [self] in
            do { try serveMemory() } catch { Self.end(1) }
            Self.end(0)
        }
        do {
            var decoding = try configure()
            try serve(&decoding)
        } catch {
            Self.end(1)
        }
        withExtendedLifetime(reader) { Self.end(0) }
    }

    private static func end(_ code: Int32) -> Never { _exit(code) }

    // MARK: Work

    struct Decoding {
        var session: DecompressionSession
        /// Of the samples that come.
        var format: VideoFormat
        var ring: SharedBytes
        var statistics: FrameStatistics
        var reportedWritten = 0
        var reportedCopied = 0
    }

    enum Ending: Error { case connection }

    private func configure() throws -> Decoding {
        guard case .configure(let format, let options, let ring) = try nextRequest() else { throw Ending.connection }
        var writer = WireWriter()
        let statistics = FrameStatistics()
        do {
            let session = try DecompressionSession(
                format: format, options: try device?.options(options) ?? options, allocator: allocator, statistics: statistics)
            shared.withLock { $0.session = session }
            session.source.whenExhausted { [self] in
                watch.need()
                tell()
            }
            writer.put(.ready(decoderName: session.decoderName, driver: session.backend.driver))
            try work.send(writer, waits: true)
            return Decoding(session: session, format: format, ring: ring, statistics: statistics)
        } catch let error as DecodingError {
            writer.put(.refused(error))
            try work.send(writer, waits: true)
            throw Ending.connection
        }
    }

    private func serve(_ decoding: inout Decoding) throws {
        while true {
            let request = try nextRequest()
            guard try takeMemory() else { throw Ending.connection }
            watch.rest(unless: decoding.session)
            switch request {
            case .configure: throw Ending.connection
            case .change(let format): decoding.format = format
            case .sample(let sample, let own):
                let buffer = try sampleBuffer(sample, own: own, decoding)
                guard sample.sampleNumber >= decoding.session.ledger.next else { throw Ending.connection }
                let session = decoding.session
                try session.decode(buffer, sample.instructions, number: sample.sampleNumber) { note($0, session) }
                done(sample.number, &decoding)
            case .drain(let number):
                let session = decoding.session
                session.finishDelayedFrames { note($0, session) }
                done(number, &decoding)
            case .flush(let number, let interruptions):
                watch.need()
                shared.wait { $0.interruptions == interruptions ? () : nil }
                let session = decoding.session
                session.flush { note($0, session) }
                done(number, &decoding)
            }
        }
    }

    private enum Request {
        case configure(VideoFormat, DecoderOptions, SharedBytes)
        case change(VideoFormat)
        case sample(SampleDescriptor, own: SharedBytes?)
        case drain(UInt32)
        case flush(UInt32, interruptions: UInt32)
    }

    /// The next request and the memory that came with it; waits for it.
    private func nextRequest() throws -> Request {
        while true {
            switch try work.receive() {
            case .end: throw Ending.connection
            case .nothing:
                guard try takeMemory() else { throw Ending.connection }
                var waiting = [
                    PollDescriptor(fd: work.rawValue, interest: .readable), PollDescriptor(fd: memory.rawValue, interest: .readable),
                ]
                watch.idle()
                _ = try pollDescriptors(&waiting)
                watch.work()
            case .message(let bytes, var descriptors):
                if SoundService.isAsked(by: bytes), shared.withLock({ $0.session == nil }) {
                    try SoundService.serve(work, bytes, descriptors)
                    throw Ending.connection
                }
                switch try DecoderRequest(bytes[...]) {
                case .configure(let format, let options, let byteCount):
                    guard let ring = descriptors.takeFirst(), let record = descriptors.takeSecond() else { throw Ending.connection }
                    if let wishes = descriptors.takeThird() { serveSurfaces(PacketSocket(adopting: wishes)) }
                    return .configure(try Self.format(format, record, byteCount), options, try SharedBytes(reading: ring))
                case .change(let format, let byteCount):
                    guard let record = descriptors.takeFirst() else { throw Ending.connection }
                    return .change(try Self.format(format, record, byteCount))
                case .sample(let sample):
                    guard !sample.isInRing else { return .sample(sample, own: nil) }
                    guard let own = descriptors.takeFirst() else { throw Ending.connection }
                    return .sample(sample, own: try SharedBytes(reading: own))
                case .drain(let number): return .drain(number)
                case .flush(let number, let interruptions): return .flush(number, interruptions: interruptions)
                }
            }
        }
    }

    private func serveSurfaces(_ wishes: PacketSocket) {
        let thread = LoopThread(name: "surfaces") { [offered] in try? offered.serve(wishes) }
        shared.withLock { $0.copying = thread }
    }

    /// The format with its configuration record.
    private static func format(_ bare: VideoFormat, _ record: consuming OwnedFD, _ byteCount: Int) throws -> VideoFormat {
        let memory = try SharedBytes(reading: record)
        guard byteCount <= memory.count else { throw Ending.connection }
        var format = bare
        format.configuration = unsafe [UInt8](UnsafeRawBufferPointer(start: memory.base, count: byteCount))
        return format
    }

    /// Notes a sample's answer.
    private func note(_ output: consuming DecodeOutput, _ session: DecompressionSession) {
        let answer: DecoderAnswer
        var hasMetadata = false
        switch consume output {
        case .failed(let sample, let error): answer = .failed(sampleNumber: sample.number, error)
        case .dropped(let sample, let reason): answer = .dropped(sampleNumber: sample.number, reason)
        case .frame(let frame):
            guard let slot = slot(of: frame.surface) else { Self.end(1) }
            let metadata = DynamicMetadata(frame.attachments)
            // A message of its own: with both kinds there is no room for others.
            hasMetadata = !metadata.isEmpty
            if hasMetadata { tell() }
            answer = .frame(
                FrameDescriptor(
                    slot: slot, visible: frame.visible, attributes: frame.attributes, presentationTime: frame.presentationTime,
                    duration: frame.duration, sourceTimestamp: frame.sourceTimestamp, sourceTimeBase: frame.sourceTimeBase,
                    flags: frame.flags, sampleNumber: frame.sampleNumber, metadata: metadata))
            let kept = SharedFrame(frame)
            shared.withLock { $0.lent[slot, default: []].append(kept) }
        }
        let isFull = outbox.withLock { writer in
            writer.put(answer)
            return writer.bytes.count > WireWriter.capacity / 2 || hasMetadata
        }
        // A decoder that waits may wait for the reader of this frame.
        if isFull || session.isExhausted { tell() }
    }

    /// The player's number for a surface: one that it has lent, or one that it was given.
    private func slot(of surface: Surface) -> UInt32? {
        if let slot = surface.loanNumber { return slot }
        return surface.memoryKind == .va ? try? offered.slot(of: surface) : nil
    }

    /// Sends what was noted.
    func tell() {
        let isThere = outbox.withLock { writer in
            guard !writer.bytes.isEmpty else { return true }
            defer { writer.reset() }
            do throws(SystemError) { try work.send(writer, waits: true) } catch { return false }
            return true
        }
        if !isThere { Self.end(0) }
    }

    private func done(_ number: UInt32, _ decoding: inout Decoding) {
        let freed = shared.withLock { shared -> [UInt32] in
            let some = Array(shared.freed.prefix(DecoderAnswer.mostFreed))
            shared.freed.removeFirst(some.count)
            return some
        }
        let written = decoding.statistics.bytesWritten, copied = decoding.statistics.bytesCopied
        let answer = DecoderAnswer.done(
            number: number, bytesWritten: UInt64(written - decoding.reportedWritten), bytesCopied: UInt64(copied - decoding.reportedCopied),
            freed: freed)
        outbox.withLock { $0.put(answer) }
        tell()
        decoding.reportedWritten = written
        decoding.reportedCopied = copied
    }
}
