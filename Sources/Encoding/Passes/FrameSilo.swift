internal import CAV
internal import Glibc
public import Media
public import SampleQueue

/// Keeps the compressed samples of several passes on the disk until the last pass is over, and then hands them out in order, once.
///
///     let silo = try FrameSilo()
///     try silo.beginPass()                          // the whole film
///     … try silo.add(sample) …
///     silo.endPass()
///     try silo.beginPass(replacing: ranges)         // a part of it anew
///     … try silo.add(sample) …
///     silo.endPass()
///     while let sample = try silo.nextSample() { … }
///
/// The counterpart of `VTFrameSilo`. Old samples stay until the pass that replaces them has ended, so a pass that fails spoils nothing. The file has
/// no name and goes with the silo, or with the process, however it ends; in memory there are about 200 bytes for each sample.
///
/// Thread-safety: one thread at a time; `progress` from any.
@safe
public final class FrameSilo: @unchecked Sendable {
    private struct Stored: Sendable {
        var offset: off_t
        var duration: MediaTime
        var flags: SampleFlags
        var trackID: Int
        var format: MediaFormat
        var attachments: Attachments
        /// What libavcodec's packet carries beside its bytes.
        var extras: [(type: UInt32, bytes: [UInt8])]
    }

    private struct Shared: Sendable {
        var state = SiloState<Stored>()
        /// nil until the first sample is read out.
        var order: [SiloState<Stored>.Entry]?
        var position = 0
    }

    private let file: OwnedFD
    private let place: String
    private var end: off_t = 0
    private let shared = Monitor(Shared())

    /// Creates the file.
    ///
    /// - Parameter parent: The folder in which it lies; nil takes the one for temporary files (`TMPDIR`, else `/tmp`).
    /// - Throws: `.storage`.
    public init(in parent: String? = nil) throws(EncodingError) {
        place = TemporaryPlace.folder(parent)
        let name = "\(place)/scanout-silo-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let descriptor = unsafe name.withPath { unsafe open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw .storage(place, errno, "no file can be made for the samples of passes") }
        _ = unsafe name.withPath { unsafe unlink($0) }
        file = OwnedFD(adopting: descriptor)
    }

    // MARK: Passes

    /// What is added from now on takes the place of the samples that lie in `ranges`, when the pass ends.
    ///
    /// - Parameter ranges: In presentation time; without overlap, and such that no sample is needed across an end. The whole film by default.
    public func beginPass(replacing ranges: [MediaTimeRange] = [.all]) { shared.withLock { $0.state.begin(ranges) } }

    /// Keeps a sample. Its bytes are written to the disk before the call returns.
    ///
    /// - Returns: False for a sample outside the ranges of the pass, which is not kept.
    /// - Throws: `.storage`: the disk is full. The pass can be abandoned then.
    @discardableResult
    public func add(_ sample: SampleBuffer) throws(EncodingError) -> Bool {
        guard case .compressed(let block, let format) = sample.content, sample.presentationTime.isNumeric else {
            throw EncodingError(.unsupportedFormat, "only compressed samples with a time can be kept for the next pass")
        }
        let offset = end
        let failure = unsafe block.withUnsafeBytes { bytes in unsafe write(bytes, at: offset) }
        guard failure == 0 else { throw .storage(place, failure, "the samples of a pass cannot be written") }
        let entry = SiloState<Stored>.Entry(
            presentation: sample.presentationTime, decode: sample.decodeTime.isNumeric ? sample.decodeTime : sample.presentationTime,
            byteCount: block.count,
            item: Stored(
                offset: offset, duration: sample.duration, flags: sample.flags, trackID: sample.trackID, format: format,
                attachments: sample.attachments, extras: block.extras))
        let isKept = shared.withLock { $0.state.add(entry) }
        if isKept { end += off_t(block.count) }
        return isKept
    }

    /// Whether each range of the pass has got as many samples as it has had before: every frame has been encoded again.
    public var passMatches: Bool { shared.withLock { $0.state.matches } }

    /// Puts the samples of the pass in the place of the old ones. A range that got no sample keeps those that it has.
    public func endPass() { shared.withLock { $0.state.end() } }

    /// Forgets the samples of the pass.
    public func abandonPass() { shared.withLock { $0.state.abandon() } }

    /// How many samples there are, with those of the pass that is under way.
    public var sampleCount: Int { shared.withLock { $0.state.entryCount } }

    /// Bytes of the samples of the passes that have ended.
    public var byteCount: Int { shared.withLock { $0.state.byteCount } }

    /// How far the pass is, or the reading out, from 0 to 1; nil where that is not known, as in a pass over a film without an end.
    public var progress: Double? {
        shared.withLock { shared in
            guard let order = shared.order else { return shared.state.progress }
            return order.isEmpty ? 1 : Double(shared.position) / Double(order.count)
        }
    }

    // MARK: Reading out

    /// The next sample in decode order, read from the disk; nil behind the last. No pass may follow the first call.
    ///
    /// - Throws: `.storage`.
    public func nextSample() throws(EncodingError) -> SampleBuffer? {
        let next = shared.withLock { shared -> SiloState<Stored>.Entry? in
            precondition(!shared.state.isInPass, "samples are read out when the last pass has ended")
            let order = shared.order ?? shared.state.ordered
            shared.order = order
            guard shared.position < order.count else { return nil }
            defer { shared.position += 1 }
            return order[shared.position]
        }
        guard let next else { return nil }
        let stored = next.item
        guard let packet = unsafe av_packet_alloc(), unsafe av_new_packet(packet, Int32(next.byteCount)) == 0 else {
            throw EncodingError(.encoder, "no memory for a sample")
        }
        let block = unsafe BlockBuffer(moving: packet)
        var done = 0
        while done < next.byteCount {
            let count = unsafe pread(file.rawValue, packet.pointee.data + done, next.byteCount - done, stored.offset + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .storage(place, count < 0 ? errno : EIO, "the samples of a pass cannot be read") }
            done += count
        }
        for extra in stored.extras {
            guard let target = unsafe av_packet_new_side_data(packet, AVPacketSideDataType(extra.type), extra.bytes.count) else { continue }
            for (index, byte) in extra.bytes.enumerated() { unsafe target[index] = byte }
        }
        var sample = SampleBuffer(
            content: .compressed(block, stored.format), trackID: stored.trackID, presentationTime: next.presentation, decodeTime: next.decode,
            duration: stored.duration, flags: stored.flags)
        sample.attachments = stored.attachments
        return sample
    }

    /// 0, or an error number.
    private func write(_ bytes: UnsafeRawBufferPointer, at offset: off_t) -> Int32 {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(file.rawValue, bytes.baseAddress! + done, bytes.count - done, offset + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            done += count
        }
        return 0
    }
}

extension BlockBuffer {
    /// What the packet carries beside its bytes.
    fileprivate var extras: [(type: UInt32, bytes: [UInt8])] {
        var all: [(type: UInt32, bytes: [UInt8])] = []
        for index in 0..<Int(unsafe packet.pointee.side_data_elems) {
            let extra = unsafe packet.pointee.side_data[index]
            unsafe all.append((extra.type.rawValue, Array(UnsafeBufferPointer(start: extra.data, count: extra.size))))
        }
        return all
    }
}
