package import Media
package import Sandbox

// The messages between a program and the process that decodes its sound, on the *work* socket. The bytes of packets lie in memory that the program
// writes, those of frames in a tray that the process writes.

/// To the process.
package enum SoundRequest: Hashable {
    /// The first message. The memory for packets, the tray, and memory whose first `configurationByteCount` bytes are the format's set-up data come
    /// with it.
    case configure(AudioFormat, configurationByteCount: Int)
    /// Some packets, which lie one after the other.
    case packets(SoundPackets)
    /// Put out what is held.
    case drain(number: UInt32)
    case flush(number: UInt32)
    /// The answer to `full`: the tray has been read.
    case more(number: UInt32)

    /// Set-up data of all kinds of sound are smaller, Vorbis's too.
    package static let mostConfiguration = 4 << 20
}

/// Packets that are sent, decoded and answered together, because waking another process costs more than decoding a packet.
package struct SoundPackets: Hashable {
    /// Counts the requests of a session.
    package var number: UInt32
    /// They lie in memory that comes with the message.
    package var isApart: Bool
    package var packets: [SoundPacket]

    /// 4: 85 ms of AAC, of which nothing is heard before the last is decoded. Twice as many would save an eighth of the wakes.
    package static let most = 4
}

/// A packet: how large it is.
package struct SoundPacket: Hashable {
    package var byteCount: UInt32
    /// Bytes of side data, after the packet's.
    package var sideByteCount: UInt32
    /// In nanoseconds; nil: unknown.
    package var time: Int64?
    /// `AVPacket.flags`.
    package var flags: Int32
}

/// From the process.
package enum SoundAnswer: Hashable {
    /// The first message, before anything was asked; the same as a decoder of frames sends.
    case confined(SandboxReport)
    /// The answer to `configure`.
    case ready
    /// No sound, or no more.
    case refused(AudioError)
    /// Part of the answer to a packet or to `drain`.
    case frame(SoundFrame)
    /// The tray has no room for what follows until `more`.
    case full(number: UInt32)
    /// Everything that the request led to has been sent.
    /// - damaged: How many of the packets could not be decoded.
    case done(number: UInt32, damaged: UInt8)
}

/// A piece of decoded sound, and where it lies on the tray: planar, one channel after the other, or interleaved.
package struct SoundFrame: Hashable {
    package var offset: UInt32
    /// `AVSampleFormat`.
    package var sampleFormat: Int32
    package var rate: Int32
    package var frameCount: Int32
    /// Of the first, in nanoseconds; nil: unknown.
    package var time: Int64?
    package var channelCount: Int32
    /// `AVChannelOrder`.
    package var channelOrder: UInt32
    /// `AVChannelLayout.u.mask`.
    package var channelMask: UInt64
}

extension WireWriter {
    package mutating func put(_ request: SoundRequest) {
        switch request {
        case .configure(let format, let byteCount):
            put(SoundRequest.first)
            put(format)
            put(UInt32(byteCount))
        case .packets(let request):
            put(UInt8(1))
            put(request.number)
            put(request.isApart)
            put(UInt32(request.packets.count))
            for packet in request.packets {
                put(packet.byteCount)
                put(packet.sideByteCount)
                put(packet.time)
                put(packet.flags)
            }
        case .drain(let number):
            put(UInt8(2))
            put(number)
        case .flush(let number):
            put(UInt8(3))
            put(number)
        case .more(let number):
            put(UInt8(4))
            put(number)
        }
    }

    package mutating func put(_ answer: SoundAnswer) {
        switch answer {
        case .ready: put(UInt8(0))
        case .refused(let error):
            put(UInt8(1))
            put(UInt8(AudioError.Code.inWireOrder.firstIndex(of: error.code) ?? 0))
            put(error.underlying)
            put(clean: error.description)
        case .frame(let frame):
            put(UInt8(2))
            put(frame.offset)
            put(frame.sampleFormat)
            put(frame.rate)
            put(frame.frameCount)
            put(frame.time)
            put(frame.channelCount)
            put(frame.channelOrder)
            put(frame.channelMask)
        case .full(let number):
            put(UInt8(3))
            put(number)
        case .done(let number, let damaged):
            put(UInt8(4))
            put(number)
            put(damaged)
        case .confined(let report):
            put(UInt8(6))
            put(report)
        }
    }
}

extension SoundRequest {
    /// Greater than the numbers of the requests to a decoder of frames, so that a process knows from the first message what it is to do.
    static let first: UInt8 = 32

    package init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case Self.first:
            self = .configure(try reader.takeSound(), configurationByteCount: try reader.takeCount(below: Self.mostConfiguration + 1))
        case 1:
            var request = SoundPackets(number: try reader.take(), isApart: try reader.takeBool(), packets: [])
            for _ in 0..<(try reader.takeCount(below: SoundPackets.most + 1)) {
                request.packets.append(
                    SoundPacket(
                        byteCount: try reader.take(), sideByteCount: try reader.take(), time: try reader.takeOptional(), flags: try reader.take()))
            }
            self = .packets(request)
        case 2: self = .drain(number: try reader.take())
        case 3: self = .flush(number: try reader.take())
        case 4: self = .more(number: try reader.take())
        case let other: throw WireError("\(other) is no request")
        }
        try reader.finish()
    }
}

extension SoundAnswer {
    /// The next of a message's answers.
    package init(_ reader: inout WireReader) throws(WireError) {
        switch try reader.take(UInt8.self) {
        case 0: self = .ready
        case 1:
            let code = Int(try reader.take(UInt8.self)), underlying = try reader.take(Int32.self)
            guard AudioError.Code.inWireOrder.indices.contains(code) else { throw WireError("no such error") }
            self = .refused(AudioError(AudioError.Code.inWireOrder[code], try reader.takeText(), underlying: underlying))
        case 2:
            self = .frame(
                SoundFrame(
                    offset: try reader.take(), sampleFormat: try reader.take(), rate: try reader.take(), frameCount: try reader.take(),
                    time: try reader.takeOptional(), channelCount: try reader.take(), channelOrder: try reader.take(), channelMask: try reader.take())
            )
        case 3: self = .full(number: try reader.take())
        case 4: self = .done(number: try reader.take(), damaged: try reader.take())
        case 6: self = .confined(try reader.takeReport())
        case let other: throw WireError("\(other) is no answer")
        }
    }
}

extension AudioError.Code {
    /// The errors that a process may report.
    fileprivate static let inWireOrder: [AudioError.Code] = [.noDecoder, .unsupportedFormat, .system]
}
