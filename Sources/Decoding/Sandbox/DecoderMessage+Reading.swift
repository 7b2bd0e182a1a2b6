internal import Media
internal import SampleQueue
internal import Sandbox
internal import SurfacePool

// Reads the messages between a player and its decoder process. Every message is checked to the last byte before it is used.

extension DecoderRequest {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0:
            let format = try reader.takeFormat()
            let threads = Int(try reader.take(UInt16.self)), lowDelay = try reader.takeBool(), holdCount = Int(try reader.take(UInt16.self))
            var options = DecoderOptions(
                threads: threads, lowDelay: lowDelay, holdCount: holdCount, maximumSurfaceBytes: Int(clamping: try reader.take(UInt64.self)),
                deadline: try reader.takeOptional(Int64.self).map { HostSpan(nanoseconds: $0) },
                specification: DecoderSpecification(hardware: .disable))
            options.rowAlignment = try reader.takeAlignment()
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

extension WireReader {
    /// Bytes with their number before them; at most `limit`.
    fileprivate mutating func takeBytes(_ limit: Int) throws(WireError) -> [UInt8] {
        let count = Int(try take(UInt16.self))
        guard count <= limit else { throw WireError("\(count) bytes are more than \(limit)") }
        return [UInt8](try take(count: count))
    }
}

extension WireReader {
    fileprivate mutating func takeAlignment() throws(WireError) -> Int {
        let alignment = Int(try take(UInt16.self))
        guard alignment.nonzeroBitCount == 1, alignment <= 4096 else { throw WireError("rows cannot lie \(alignment) bytes apart") }
        return alignment
    }
}

extension DecoderAnswer {
    /// The next of a message's answers; only answers to samples may be followed by another.
    init(_ reader: inout WireReader) throws(WireError) {
        switch try reader.take(UInt8.self) {
        case 0:
            let name = try reader.takeText(), isHardware = try reader.takeBool(), driver = try reader.takeText()
            self = .ready(decoderName: name, driver: isHardware ? driver : nil)
        case 1: self = .refused(try reader.takeError())
        case 2:
            var frame = FrameDescriptor(
                slot: try reader.take(), visible: try reader.takeRect(), attributes: try reader.takeAttributes(),
                presentationTime: try reader.takeTime(), duration: try reader.takeTime(), sourceTimestamp: try reader.takeOptional(),
                sourceTimeBase: try reader.takeRatio(), flags: VideoFrame.Flags(rawValue: try reader.take()),
                sampleNumber: try reader.takeOptional())
            frame.metadata.hdr10Plus = try reader.takeBytes(DynamicMetadata.longestHDR10Plus)
            frame.metadata.dolbyVisionRPU = try reader.takeBytes(DynamicMetadata.longestRPU)
            self = .frame(frame)
        case 3:
            let number = try reader.take(UInt64.self), reason = Int(try reader.take(UInt8.self))
            guard reason < DropReason.allCases.count else { throw WireError("no such reason to drop a frame") }
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
        case 3:
            let slot = try reader.take(UInt32.self), layout = try reader.takeLayout(), modifier = FormatModifier(rawValue: try reader.take())
            guard layout.format == .nv12 || layout.format == .p010le else { throw WireError("no hardware decodes into \(layout.format.rawValue)") }
            let planes = (0..<layout.planeCount).map { layout.plane($0) }
            self = .offer(
                slot: slot,
                SurfaceLayout(format: layout.format, size: layout.size, modifier: modifier, planes: planes, byteCount: layout.byteCount))
        case let other: throw WireError("\(other) is no wish")
        }
        try reader.finish()
    }
}
