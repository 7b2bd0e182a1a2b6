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
    /// Packets that lie in the memory for them and have not been sent, and how many bytes they take.
    private(set) var laid: [SoundPacket] = []
    private var laidByteCount = 0
    /// The memory of a packet that is too large for that.
    private var apart: SharedBytes?
    /// What is left of the time that the process has for the request, whatever it says meanwhile. Time outside of `next`, in which sound waits for
    /// room, does not count.
    private var left: HostSpan
    private var answerCount = 0
    /// The earliest and the latest time of the packets that were sent last, in nanoseconds; nil: none of them had one.
    private var sentTimes: ClosedRange<Int64>?
    /// Answers that came with the last one.
    private var rest: WireReader?

    /// 256 KB: more than a packet of any common codec.
    private static let packetByteCount = 256 << 10
    /// 1 MB: five seconds of stereo at 48 kHz, half a second of 64 channels.
    private static let trayByteCount = 1 << 20

    /// - Parameter deadline: How long the process may take for one request, whatever it says meanwhile.
    init(_ process: SandboxedProcess, deadline: HostSpan, isCancelled: @escaping @Sendable () -> Bool) throws(SystemError) {
        self.process = process
        (self.deadline, left) = (deadline, deadline)
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

    /// Whether a packet can be laid beside those that are there.
    func hasRoom(for packet: UnsafePointer<AVPacket>) -> Bool {
        unsafe laid.isEmpty || (!isFull && laidByteCount + Self.byteCount(of: packet) <= packets.count)
    }

    /// No further packet can be laid.
    var isFull: Bool { laid.count == SoundPackets.most || apart != nil }

    private static func byteCount(of packet: UnsafePointer<AVPacket>) -> Int {
        unsafe Int(max(packet.pointee.size, 0)) + SideData.byteCount(of: UnsafeMutablePointer(mutating: packet))
    }

    /// Copies a packet and its side data into shared memory. There is room for it.
    func lay(_ packet: UnsafePointer<AVPacket>, time: Int64?) throws(ProcessEnd) {
        let source = unsafe UnsafeMutablePointer(mutating: packet)
        let count = unsafe Int(max(packet.pointee.size, 0)), whole = unsafe Self.byteCount(of: packet)
        if whole > packets.count {
            do throws(SystemError) { apart = try SharedBytes(count: whole) } catch { throw ProcessEnd(error) }
        }
        let target = unsafe (apart ?? packets).base + laidByteCount
        if count > 0 { unsafe target.copyMemory(from: packet.pointee.data, byteCount: count) }
        unsafe SideData.write(of: source, to: target + count)
        laid.append(SoundPacket(byteCount: UInt32(count), sideByteCount: UInt32(whole - count), time: time, flags: unsafe packet.pointee.flags))
        laidByteCount += whole
    }

    /// Tells the process where the packets are.
    func sendLaid(number: UInt32) throws(ProcessEnd) {
        let times = laid.compactMap(\.time)
        if let first = times.min(), let last = times.max() { sentTimes = first...last }
        try send(.packets(SoundPackets(number: number, isApart: apart != nil, packets: laid)), apart: apart)
    }

    /// The packets have been answered, or are not wanted any more.
    func forgetLaid() {
        laid.removeAll(keepingCapacity: true)
        (laidByteCount, apart) = (0, nil)
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
        left = deadline ?? self.deadline
        answerCount = 0
        rest = nil
    }

    /// The next answer.
    /// - Throws: When the process has gone, hangs, or sends a malformed message, and when decoding was cancelled. The caller ends it.
    func next() throws(ProcessEnd) -> SoundAnswer {
        answerCount += 1
        guard answerCount <= Self.mostAnswers else { throw ProcessEnd("answers without end") }
        var reader = if let rest { rest } else { WireReader(try message()[...]) }
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

    private func message() throws(ProcessEnd) -> [UInt8] {
        let since = MonotonicClock.shared.now()
        defer { left = left - (MonotonicClock.shared.now() - since) }
        return try process.nextMessage(until: since + left, isCancelled: cancellation)
    }

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
        unsafe frame.pointee.pts = description.time.flatMap { isCredible($0) ? $0 : nil } ?? cav_nopts_value
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

    /// Whether sound may begin at this time: near the packets that it was made of. Of sound that lies hours ahead nothing would be heard, nor, as it
    /// fills all queues, anything of the film be seen.
    private func isCredible(_ time: Int64) -> Bool {
        guard let sentTimes else { return false }
        let distance =
            time < sentTimes.lowerBound
            ? UInt64(bitPattern: sentTimes.lowerBound &- time) : time > sentTimes.upperBound ? UInt64(bitPattern: time &- sentTimes.upperBound) : 0
        return distance <= Self.longestDelay
    }

    /// 10 s: no decoder of sound holds back so much.
    private static let longestDelay: UInt64 = 10_000_000_000
}
