internal import CAV
internal import Media
internal import SampleQueue
package import Sandbox

/// What a decoder process does once it is confined and its first message asks for sound: decodes the packets that come in until the program closes
/// the connection.
///
/// Thread-safety: one thread.
@safe
package final class SoundService {
    package enum Ending: Error { case connection }

    private let work: PacketSocket
    private let packets: SharedBytes
    private let tray: SharedBytes
    private let decoder: AudioDecoder
    private var writer = WireWriter()
    /// Bytes of the tray that are in use.
    private var place = 0
    private var number: UInt32 = 0
    private var failure: (any Error)?

    /// Whether a decoder process's first message asks for sound.
    package static func isAsked(by message: [UInt8]) -> Bool { message.first == SoundRequest.first }

    /// Serves a program whose first message this is. Returns when it is to end without an error.
    package static func serve(_ work: PacketSocket, _ message: [UInt8], _ descriptors: consuming PacketSocket.Descriptors) throws {
        var descriptors = descriptors
        guard case .configure(var format, let count) = try SoundRequest(message[...]), let packets = descriptors.takeFirst(),
            let tray = descriptors.takeSecond(), let record = descriptors.takeThird()
        else { throw Ending.connection }
        let memory = try SharedBytes(reading: record)
        guard count <= memory.count else { throw Ending.connection }
        format.configuration = unsafe [UInt8](UnsafeRawBufferPointer(start: memory.base, count: count))
        var writer = WireWriter()
        let decoder: AudioDecoder
        do throws(AudioError) { decoder = try AudioDecoder(format: format) } catch {
            writer.put(.refused(error))
            return try work.send(writer, waits: true)
        }
        writer.put(.ready)
        try work.send(writer, waits: true)
        try SoundService(work, SharedBytes(reading: packets), SharedBytes(writing: tray), decoder).serve()
    }

    private init(_ work: PacketSocket, _ packets: SharedBytes, _ tray: SharedBytes, _ decoder: AudioDecoder) {
        self.work = work
        self.packets = packets
        self.tray = tray
        self.decoder = decoder
    }

    private func serve() throws {
        while true {
            let (request, apart) = try next()
            place = 0
            var damaged = 0
            switch request {
            case .configure, .more: throw Ending.connection
            case .packets(let request):
                number = request.number
                damaged = try decode(request, apart)
            case .drain(let number):
                self.number = number
                let before = decoder.damagedPackets
                unsafe decoder.drain { unsafe put($0) }
                damaged = decoder.damagedPackets > before ? 1 : 0
            case .flush(let number):
                self.number = number
                decoder.flush()
            }
            if let refusal = failure as? AudioError {
                writer.put(.refused(refusal))
                return try tell()
            }
            if let failure { throw failure }
            writer.put(.done(number: number, damaged: UInt8(clamping: damaged)))
            try tell()
        }
    }

    /// The next request, and memory that came with it.
    private func next() throws -> (SoundRequest, SharedBytes?) {
        guard var message = try work.next() else { throw Ending.connection }
        let request = try SoundRequest(message.bytes[...])
        guard let apart = message.descriptors.takeFirst() else { return (request, nil) }
        return (request, try SharedBytes(reading: apart))
    }

    /// Decodes packets that lie one after the other, and says how many of them are damaged.
    private func decode(_ request: SoundPackets, _ apart: SharedBytes?) throws -> Int {
        guard request.isApart == (apart != nil) else { throw Ending.connection }
        let memory = apart ?? packets
        var place = 0, damaged = 0
        for packet in request.packets where failure == nil {
            let before = decoder.damagedPackets
            try decode(packet, in: memory, at: place)
            place += Int(packet.byteCount) + Int(packet.sideByteCount)
            if decoder.damagedPackets > before { damaged += 1 }
        }
        return damaged
    }

    private func decode(_ packet: SoundPacket, in memory: SharedBytes, at place: Int) throws {
        let count = Int(packet.byteCount), sides = Int(packet.sideByteCount)
        guard count + sides <= memory.count - place, var made = unsafe av_packet_alloc().map(Optional.some) else { throw Ending.connection }
        defer { unsafe av_packet_free(&made) }
        guard let target = unsafe made, unsafe av_new_packet(target, Int32(clamping: count)) >= 0 else { throw Ending.connection }
        let source = unsafe memory.base + place
        if count > 0 { unsafe target.pointee.data.update(from: source.assumingMemoryBound(to: UInt8.self), count: count) }
        unsafe target.pointee.flags = packet.flags
        guard unsafe SideData.add(UnsafeRawBufferPointer(start: source + count, count: sides), to: target) else { throw Ending.connection }
        let time = packet.time.map { MediaTime(nanoseconds: $0) } ?? .invalid
        unsafe decoder.decode(target, presentationTime: time) { unsafe put($0) }
    }

    // MARK: Frames

    /// Puts a frame of sound on the tray, in several parts where it is larger than the tray.
    private func put(_ frame: UnsafePointer<AVFrame>) -> Bool {
        do {
            guard unsafe frame.pointee.nb_samples > 0 else { return true }
            let shape = try unsafe SoundShape(frame)
            let count = unsafe Int(frame.pointee.nb_samples), most = tray.count / shape.bytesInFrame
            for start in stride(from: 0, to: count, by: most) { unsafe try put(frame, start..<min(start + most, count), shape) }
        } catch {
            failure = failure ?? error
        }
        return failure == nil
    }

    private func put(_ frame: UnsafePointer<AVFrame>, _ part: Range<Int>, _ shape: SoundShape) throws {
        let bytes = part.count * shape.bytesInFrame
        if place + bytes > tray.count { try waitForRoom() }
        var target = unsafe tray.base + place
        for plane in 0..<shape.planeCount {
            guard let source = unsafe frame.pointee.extended_data?[plane] else { throw Ending.connection }
            let stride = shape.bytesInFrame / shape.planeCount
            unsafe target.copyMemory(from: source + part.lowerBound * stride, byteCount: part.count * stride)
            unsafe target += part.count * stride
        }
        let pts = unsafe frame.pointee.pts
        let later = Int64(part.lowerBound) * 1_000_000_000 / Int64(shape.rate)
        writer.put(
            .frame(
                SoundFrame(
                    offset: UInt32(place), sampleFormat: shape.format.rawValue, rate: shape.rate, frameCount: Int32(part.count),
                    time: pts == cav_nopts_value ? nil : pts + later, channelCount: shape.channelCount, channelOrder: shape.channelOrder,
                    channelMask: shape.channelMask)))
        place += bytes
        if writer.bytes.count > WireWriter.capacity / 2 { try tell() }
    }

    private func waitForRoom() throws {
        writer.put(.full(number: number))
        try tell()
        guard case (.more(number), nil) = try next() else { throw Ending.connection }
        place = 0
    }

    private func tell() throws {
        try work.send(writer, waits: true)
        writer.reset()
    }
}
