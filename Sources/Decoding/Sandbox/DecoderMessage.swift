internal import Media
internal import SampleQueue
internal import Sandbox
internal import SurfacePool

// The messages between a player and its decoder process. There are two sockets: *work* carries samples and their answers, in order;
// *memory* carries surfaces and their use, for which neither side's work must wait.

/// Where a sample's bytes lie and what is known of it.
struct SampleDescriptor: Hashable {
    /// Counts the requests of a session.
    var number: UInt32
    /// The number under which the sample is answered; higher than all before.
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
    /// The samples that follow have another format; memory comes with it as with `configure`. Not answered.
    case change(format: VideoFormat, configurationByteCount: Int)
    case sample(SampleDescriptor)
    case drain(number: UInt32)
    /// Takes effect when so many interruptions have been received on the other socket.
    case flush(number: UInt32, interruptions: UInt32)
}

/// A frame: where it lies and which part of it is visible.
struct FrameDescriptor: Hashable {
    var slot: UInt32
    var visible: PixelRect
    var attributes: FrameAttributes
    var presentationTime: MediaTime
    var duration: MediaTime
    var sourceTimestamp: Int64?
    var sourceTimeBase: Ratio
    var flags: VideoFrame.Flags
    /// The sample that it answers; nil for none.
    var sampleNumber: UInt64?
    var metadata = DynamicMetadata()
}

/// On the work socket, from the decoder. The answer to a sample may come in one message with the `done` that follows.
enum DecoderAnswer: Hashable {
    /// The first message, before anything was asked.
    case confined(SandboxReport)
    /// The answer to `configure`.
    /// - driver: the hardware's, nil for software.
    case ready(decoderName: String, driver: String?)
    case refused(DecodingError)
    case frame(FrameDescriptor)
    case dropped(sampleNumber: UInt64, DropReason)
    case failed(sampleNumber: UInt64, DecodingError)
    /// Everything that the request led to so far has been sent. `freed`: samples whose bytes the decoder no longer reads.
    case done(number: UInt32, bytesWritten: UInt64, bytesCopied: UInt64, freed: [UInt32])

    /// Samples that one `done` can give back; the rest go with the next.
    static let mostFreed = 256
}

/// On the memory socket, to the decoder.
enum MemoryGrant: Hashable {
    /// Memory for the layout asked for, under a number of its own; one descriptor, or two (DMA-BUF, memfd below it), come with it.
    case granted(slot: UInt32, kind: SurfaceMemory.Kind)
    case denied(String)
    /// The readers of a frame have ended their use.
    case released(slot: UInt32)
    /// A wait for a surface must end, without one.
    case interrupt
    case ping
}

/// On the memory socket, from the decoder.
enum MemoryWish: Hashable {
    /// One at a time: the next follows the answer.
    case want(SurfaceLayout)
    /// The decoder has unmapped this memory.
    case gone(slot: UInt32)
    /// The driver has made this memory, and frames will lie in it; one descriptor comes with it. `gone` ends that.
    case offer(slot: UInt32, SurfaceLayout)
    /// The answer to `ping`: alive, and whether decoding waits for readers to give a surface back.
    case pong(isExhausted: Bool)
}

extension SurfaceMemory.Kind {
    fileprivate var wireNumber: UInt8 { UInt8(Self.allCases.firstIndex(of: self)!) }
}

// MARK: Writing

extension WireWriter {
    /// Bytes with their number before them.
    fileprivate mutating func put(some bytes: [UInt8]) {
        put(UInt16(bytes.count))
        put(bytes: bytes)
    }

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
            put(UInt16(clamping: options.rowAlignment))
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
        case .ready(let name, let driver):
            put(UInt8(0))
            put(name)
            put(driver != nil)
            put(driver ?? "")
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
            put(some: frame.metadata.hdr10Plus)
            put(some: frame.metadata.dolbyVisionRPU)
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
        case .offer(let slot, let layout):
            put(UInt8(3))
            put(slot)
            put(layout)
            put(layout.modifier.rawValue)
        }
    }
}
