internal import CAV
internal import Glibc
internal import Media
internal import SampleQueue
internal import Sandbox

/// The program's end of a process that decodes sound: sends packets, waits for answers, and copies frames off the tray.
///
/// Thread-safety: one thread at a time.
@safe
final class SoundLink {
    var process: SandboxedProcess
    private let deadline: HostSpan
    private let cancellation: @Sendable () -> Bool
    /// For packets; larger ones get memory of their own.
    private let packets: SharedBytes
    private let tray: SharedBytes
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var writer = WireWriter()
    /// When the process's time for the request is over.
    private var limit = HostTime.distantFuture
    private var answerCount = 0
    /// Answers that came with the last one.
    private var rest: WireReader?

    /// 256 KB: more than a packet of any common codec.
    private static let packetByteCount = 256 << 10
    /// 1 MB: five seconds of stereo at 48 kHz, half a second of 64 channels.
    private static let trayByteCount = 1 << 20

    /// - Parameter deadline: How long the process may take for one request, whatever it says meanwhile.
    init(_ process: SandboxedProcess, deadline: HostSpan, isCancelled: @escaping @Sendable () -> Bool) throws(SystemError) {
        self.process = process
        self.deadline = deadline
        cancellation = isCancelled
        packets = try SharedBytes(count: Self.packetByteCount)
        tray = try SharedBytes(count: Self.trayByteCount)
        unsafe frame = av_frame_alloc()
        if unsafe frame == nil { throw SystemError(ENOMEM, "make a frame of sound") }
    }

    deinit { unsafe av_frame_free(&frame) }

    var isCancelled: Bool { cancellation() }

    // MARK: Asking

    func configure(_ format: AudioFormat) throws(ProcessEnd) {
        let configuration = format.configuration
        guard configuration.count <= SoundRequest.mostConfiguration else {
            throw ProcessEnd("is given no set-up data of \(configuration.count) bytes")
        }
        do throws(SystemError) {
            let record = try SharedBytes(count: max(configuration.count, 1))
            unsafe configuration.withUnsafeBytes { bytes in
                if let source = bytes.baseAddress { unsafe record.base.copyMemory(from: source, byteCount: bytes.count) }
            }
            writer.reset()
            writer.put(.configure(format, configurationByteCount: configuration.count))
            try process.work.send(
                writer, descriptors: [packets.descriptor.rawValue, tray.descriptor.rawValue, record.descriptor.rawValue])
        } catch {
            throw ProcessEnd(error)
        }
    }

    func send(_ request: SoundRequest) throws(ProcessEnd) { try send(request, apart: nil) }

    /// Copies a packet and its side data into shared memory and tells the process where it is.
    func send(_ packet: UnsafePointer<AVPacket>, number: UInt32, time: Int64?) throws(ProcessEnd) {
        let source = unsafe UnsafeMutablePointer(mutating: packet)
        let count = unsafe Int(max(packet.pointee.size, 0)), sides = unsafe SideData.byteCount(of: source)
        var apart: SharedBytes?
        if count + sides > packets.count {
            do throws(SystemError) { apart = try SharedBytes(count: count + sides) } catch { throw ProcessEnd(error) }
        }
        let target = unsafe (apart ?? packets).base
        if count > 0 { unsafe target.copyMemory(from: packet.pointee.data, byteCount: count) }
        unsafe SideData.write(of: source, to: target + count)
        let flags = unsafe packet.pointee.flags
        let description = SoundPacket(
            number: number, byteCount: UInt32(count), sideByteCount: UInt32(sides), isApart: apart != nil, time: time, flags: flags)
        try send(.packet(description), apart: apart)
    }

    private func send(_ request: SoundRequest, apart: SharedBytes?) throws(ProcessEnd) {
        writer.reset()
        writer.put(request)
        do throws(SystemError) {
            try process.work.send(writer, descriptors: apart.map { [$0.descriptor.rawValue] } ?? [])
        } catch {
            throw ProcessEnd(error)
        }
    }

    // MARK: Answers

    /// From now on the process has its time for a request. What came before is forgotten.
    func beginWait(_ deadline: HostSpan? = nil) {
        limit = MonotonicClock.shared.now() + (deadline ?? self.deadline)
        answerCount = 0
        rest = nil
    }

    /// The next answer.
    /// - Throws: When the process has gone, hangs, or sends a malformed message, and when decoding was cancelled. The caller ends it.
    func next() throws(ProcessEnd) -> SoundAnswer {
        answerCount += 1
        guard answerCount <= Self.mostAnswers else { throw ProcessEnd("answers without end") }
        var reader = if let rest { rest } else { WireReader(try process.nextMessage(until: limit, isCancelled: cancellation)[...]) }
        do throws(WireError) {
            let answer = try SoundAnswer(&reader)
            rest = reader.isAtEnd ? nil : reader
            return answer
        } catch {
            throw ProcessEnd(error)
        }
    }

    /// A packet has rarely more than one frame; a damaged one may make a decoder put out what it holds.
    private static let mostAnswers = 1 << 16

    // MARK: Frames

    /// Copies a frame off the tray. It is valid until the next call.
    func frame(_ description: SoundFrame) throws(ProcessEnd) -> UnsafePointer<AVFrame> {
        guard let frame = unsafe frame else { throw ProcessEnd("has no memory") }
        let shape: SoundShape
        do throws(AudioError) {
            shape = try SoundShape(
                format: description.sampleFormat, rate: description.rate, channelCount: description.channelCount,
                channelOrder: description.channelOrder, channelMask: description.channelMask)
        } catch {
            throw ProcessEnd("puts out sound that there is not: \(error.description)")
        }
        let count = Int(description.frameCount), offset = Int(description.offset)
        guard count > 0, offset <= tray.count, count <= (tray.count - offset) / shape.bytesInFrame else {
            throw ProcessEnd("puts out sound beyond the memory for it")
        }
        unsafe av_frame_unref(frame)
        unsafe frame.pointee.format = description.sampleFormat
        unsafe frame.pointee.sample_rate = description.rate
        unsafe frame.pointee.nb_samples = description.frameCount
        unsafe frame.pointee.pts = description.time ?? cav_nopts_value
        unsafe frame.pointee.ch_layout.order = AVChannelOrder(rawValue: description.channelOrder)
        unsafe frame.pointee.ch_layout.nb_channels = description.channelCount
        unsafe frame.pointee.ch_layout.u.mask = description.channelMask
        // A mask names as many channels as there are; a list of names would be a pointer.
        guard unsafe frame.pointee.ch_layout.order != AV_CHANNEL_ORDER_CUSTOM, unsafe av_channel_layout_check(&frame.pointee.ch_layout) == 1 else {
            unsafe frame.pointee.ch_layout = AVChannelLayout()
            throw ProcessEnd("puts out sound in channels that there are not")
        }
        guard unsafe av_frame_get_buffer(frame, 0) >= 0 else { throw ProcessEnd(SystemError(ENOMEM, "make a frame of sound")) }
        let bytes = count * (shape.bytesInFrame / shape.planeCount)
        for plane in 0..<shape.planeCount {
            unsafe frame.pointee.extended_data[plane]!.update(
                from: (tray.base + offset + plane * bytes).assumingMemoryBound(to: UInt8.self), count: bytes)
        }
        return unsafe UnsafePointer(frame)
    }
}
