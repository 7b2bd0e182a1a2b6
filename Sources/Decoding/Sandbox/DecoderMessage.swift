internal import Media
internal import SampleQueue
internal import SurfacePool

// What a player and its decoder process say to each other. Two sockets: *work* carries samples and what becomes of them, in order;
// *memory* carries surfaces and their use, on which neither side's work must wait.

/// Where a sample's bytes lie and what is known of it.
struct SampleDescriptor: Hashable {
    /// Counts the requests of a session.
    var number: UInt32
    /// Under which the sample is answered; higher than all before.
    var sampleNumber: UInt64
    /// In the ring, or in memory that comes with the message.
    var offset: UInt64
    /// Bytes of the sample. 64 zero bytes follow, then the side data.
    var byteCount: UInt32
    /// Bytes of side data: for each, its type and its size (both UInt32), then its bytes.
    var sideByteCount: UInt32
    var isInRing: Bool
    var presentationTime: MediaTime
    var decodeTime: MediaTime
    var duration: MediaTime
    var sourcePresentationTimestamp: Int64?
    var sourceDecodeTimestamp: Int64?
    var sourceTimeBase: Ratio
    var flags: SampleFlags
    /// `AVPacket.flags`.
    var packetFlags: Int32
    var instructions: DecodeInstructions
}

/// On the work socket, to the decoder.
enum DecoderRequest: Hashable {
    /// The first message. The ring comes with it, and memory whose first `configurationByteCount` bytes are the format's configuration record.
    case configure(format: VideoFormat, options: DecoderOptions, configurationByteCount: Int)
    /// The samples that follow have another format; such memory comes with it. Not answered.
    case change(format: VideoFormat, configurationByteCount: Int)
    case sample(SampleDescriptor)
    case drain(number: UInt32)
    /// Takes effect when so many interruptions, which come on the other socket, have been heard.
    case flush(number: UInt32, interruptions: UInt32)
}

/// A picture: where it lies and what is to be seen of it.
struct FrameDescriptor: Hashable {
    var slot: UInt32
    var visible: PixelRect
    var attributes: PictureAttributes
    var presentationTime: MediaTime
    var duration: MediaTime
    var sourceTimestamp: Int64?
    var sourceTimeBase: Ratio
    var flags: VideoFrame.Flags
    /// The sample that it answers; nil for none.
    var sampleNumber: UInt64?
}

/// On the work socket, from the decoder. What becomes of a sample may come in one message with the `done` that follows.
enum DecoderAnswer: Hashable {
    /// The first message, before anything was asked.
    case confined(SandboxReport)
    /// The answer to `configure`.
    case ready(decoderName: String)
    case refused(DecodingError)
    case frame(FrameDescriptor)
    case dropped(sampleNumber: UInt64, DropReason)
    case failed(sampleNumber: UInt64, DecodingError)
    /// Nothing more will come of this request for now. `freed`: samples whose bytes the decoder no longer reads.
    case done(number: UInt32, bytesWritten: UInt64, bytesCopied: UInt64, freed: [UInt32])

    /// Samples that one `done` can give back; the rest go with the next.
    static let mostFreed = 256
}

/// On the memory socket, to the decoder.
enum MemoryGrant: Hashable {
    /// Memory for the layout asked for, under a number of its own; one descriptor, or two (DMA-BUF, memfd below it), come with it.
    case granted(slot: UInt32, kind: SurfaceMemory.Kind)
    case denied(String)
    /// The readers of a picture have ended their use.
    case released(slot: UInt32)
    /// Waiting for surfaces is to end in failure.
    case interrupt
    case ping
}

/// On the memory socket, from the decoder.
enum MemoryWish: Hashable {
    /// One at a time: the next follows the answer.
    case want(SurfaceLayout)
    /// The decoder has unmapped this memory.
    case gone(slot: UInt32)
    /// The answer to `ping`: alive, and whether decoding waits for readers to give a surface back.
    case pong(isExhausted: Bool)
}

extension SurfaceMemory.Kind {
    fileprivate var wireNumber: UInt8 { UInt8(Self.allCases.firstIndex(of: self)!) }
}

// MARK: Writing

extension WireWriter {
    mutating func put(_ request: DecoderRequest) {
        switch request {
        case .configure(let format, let options, let byteCount):
            put(UInt8(0))
            put(format)
            put(UInt16(clamping: options.threads))
            put(options.lowDelay)
            put(UInt16(clamping: options.holdCount))
            put(UInt64(clamping: options.maximumSurfaceBytes))
            put(options.deadline?.nanoseconds)
            put(UInt32(byteCount))
        case .change(let format, let byteCount):
            put(UInt8(4))
            put(format)
            put(UInt32(byteCount))
        case .sample(let sample):
            put(UInt8(1))
            put(sample.number)
            put(sample.sampleNumber)
            put(sample.offset)
            put(sample.byteCount)
            put(sample.sideByteCount)
            put(sample.isInRing)
            put(sample.presentationTime)
            put(sample.decodeTime)
            put(sample.duration)
            put(sample.sourcePresentationTimestamp)
            put(sample.sourceDecodeTimestamp)
            put(sample.sourceTimeBase)
            put(sample.flags.rawValue)
            put(sample.packetFlags)
            put(sample.instructions.doNotOutput)
            put(sample.instructions.skipsNonReference)
            put(sample.instructions.deadline?.nanoseconds)
        case .drain(let number):
            put(UInt8(2))
            put(number)
        case .flush(let number, let interruptions):
            put(UInt8(3))
            put(number)
            put(interruptions)
        }
    }

    mutating func put(_ answer: DecoderAnswer) {
        switch answer {
        case .ready(let name):
            put(UInt8(0))
            put(name)
        case .refused(let error):
            put(UInt8(1))
            put(error)
        case .frame(let frame):
            put(UInt8(2))
            put(frame.slot)
            put(frame.visible)
            put(frame.attributes)
            put(frame.presentationTime)
            put(frame.duration)
            put(frame.sourceTimestamp)
            put(frame.sourceTimeBase)
            put(frame.flags.rawValue)
            put(frame.sampleNumber)
        case .dropped(let number, let reason):
            put(UInt8(3))
            put(number)
            put(UInt8(DropReason.allCases.firstIndex(of: reason)!))
        case .failed(let number, let error):
            put(UInt8(4))
            put(number)
            put(error)
        case .done(let number, let written, let copied, let freed):
            put(UInt8(5))
            put(number)
            put(written)
            put(copied)
            put(UInt32(freed.count))
            for number in freed { put(number) }
        case .confined(let report):
            put(UInt8(6))
            put(report)
        }
    }

    mutating func put(_ grant: MemoryGrant) {
        switch grant {
        case .granted(let slot, let kind):
            put(UInt8(0))
            put(slot)
            put(kind.wireNumber)
        case .denied(let sentence):
            put(UInt8(1))
            put(sentence)
        case .released(let slot):
            put(UInt8(2))
            put(slot)
        case .interrupt: put(UInt8(3))
        case .ping: put(UInt8(4))
        }
    }

    mutating func put(_ wish: MemoryWish) {
        switch wish {
        case .want(let layout):
            put(UInt8(0))
            put(layout)
        case .gone(let slot):
            put(UInt8(1))
            put(slot)
        case .pong(let isExhausted):
            put(UInt8(2))
            put(isExhausted)
        }
    }
}

// MARK: Reading

extension DecoderRequest {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0:
            let format = try reader.takeFormat()
            let threads = Int(try reader.take(UInt16.self)), lowDelay = try reader.takeBool(), holdCount = Int(try reader.take(UInt16.self))
            let options = DecoderOptions(
                threads: threads, lowDelay: lowDelay, holdCount: holdCount, maximumSurfaceBytes: Int(clamping: try reader.take(UInt64.self)),
                deadline: try reader.takeOptional(Int64.self).map { HostSpan(nanoseconds: $0) },
                specification: DecoderSpecification(hardware: .disable))
            self = .configure(format: format, options: options, configurationByteCount: try reader.takeCount(below: 1 << 30))
        case 1:
            self = .sample(
                SampleDescriptor(
                    number: try reader.take(), sampleNumber: try reader.take(), offset: try reader.take(), byteCount: try reader.take(),
                    sideByteCount: try reader.take(),
                    isInRing: try reader.takeBool(), presentationTime: try reader.takeTime(), decodeTime: try reader.takeTime(),
                    duration: try reader.takeTime(), sourcePresentationTimestamp: try reader.takeOptional(),
                    sourceDecodeTimestamp: try reader.takeOptional(), sourceTimeBase: try reader.takeRatio(),
                    flags: SampleFlags(rawValue: try reader.take()), packetFlags: try reader.take(),
                    instructions: DecodeInstructions(
                        doNotOutput: try reader.takeBool(), skipsNonReference: try reader.takeBool(),
                        deadline: try reader.takeOptional(Int64.self).map { HostTime(nanoseconds: $0) })))
        case 2: self = .drain(number: try reader.take())
        case 3: self = .flush(number: try reader.take(), interruptions: try reader.take())
        case 4:
            self = .change(format: try reader.takeFormat(), configurationByteCount: try reader.takeCount(below: 1 << 30))
        case let other: throw WireError("\(other) is no request")
        }
        try reader.finish()
    }
}

extension DecoderAnswer {
    /// The next of a message's answers; only those that come of a sample may have another behind them.
    init(_ reader: inout WireReader) throws(WireError) {
        switch try reader.take(UInt8.self) {
        case 0: self = .ready(decoderName: try reader.takeText())
        case 1: self = .refused(try reader.takeError())
        case 2:
            self = .frame(
                FrameDescriptor(
                    slot: try reader.take(), visible: try reader.takeRect(), attributes: try reader.takeAttributes(),
                    presentationTime: try reader.takeTime(), duration: try reader.takeTime(), sourceTimestamp: try reader.takeOptional(),
                    sourceTimeBase: try reader.takeRatio(), flags: VideoFrame.Flags(rawValue: try reader.take()),
                    sampleNumber: try reader.takeOptional()))
        case 3:
            let number = try reader.take(UInt64.self), reason = Int(try reader.take(UInt8.self))
            guard reason < DropReason.allCases.count else { throw WireError("no such reason to drop a picture") }
            self = .dropped(sampleNumber: number, DropReason.allCases[reason])
        case 4: self = .failed(sampleNumber: try reader.take(), try reader.takeError())
        case 5:
            let number = try reader.take(UInt32.self), written = try reader.take(UInt64.self), copied = try reader.take(UInt64.self)
            var freed: [UInt32] = []
            for _ in 0..<(try reader.takeCount(below: Self.mostFreed + 1)) { freed.append(try reader.take()) }
            self = .done(number: number, bytesWritten: written, bytesCopied: copied, freed: freed)
        case 6: self = .confined(try reader.takeReport())
        case let other: throw WireError("\(other) is no answer")
        }
        switch self {
        case .frame, .dropped, .failed: break
        case .confined, .ready, .refused, .done: try reader.finish()
        }
    }
}

extension MemoryGrant {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0:
            let slot = try reader.take(UInt32.self), kind = Int(try reader.take(UInt8.self))
            guard kind < SurfaceMemory.Kind.allCases.count else { throw WireError("no such kind of memory") }
            self = .granted(slot: slot, kind: SurfaceMemory.Kind.allCases[kind])
        case 1: self = .denied(try reader.takeText())
        case 2: self = .released(slot: try reader.take())
        case 3: self = .interrupt
        case 4: self = .ping
        case let other: throw WireError("\(other) is no grant")
        }
        try reader.finish()
    }
}

extension MemoryWish {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0: self = .want(try reader.takeLayout())
        case 1: self = .gone(slot: try reader.take())
        case 2: self = .pong(isExhausted: try reader.takeBool())
        case let other: throw WireError("\(other) is no wish")
        }
        try reader.finish()
    }
}
