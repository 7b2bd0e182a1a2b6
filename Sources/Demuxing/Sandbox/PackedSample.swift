internal import CAV
internal import Media
internal import SampleQueue
internal import Sandbox

/// One sample for the tray: its bytes, followed by its side data.
struct PackedSample {
    let sample: SampleBuffer
    private let block: BlockBuffer
    private let sides: [UInt8]

    /// nil for what has no bytes.
    init?(_ sample: SampleBuffer) {
        guard case .compressed(let block, _) = sample.content else { return nil }
        self.sample = sample
        self.block = block
        var sides = [UInt8](repeating: 0, count: unsafe SideData.byteCount(of: block.packet))
        unsafe sides.withUnsafeMutableBytes { place in
            if let base = place.baseAddress { unsafe SideData.write(of: block.packet, to: base) }
        }
        self.sides = sides
    }

    var byteCount: Int { block.count + sides.count }

    /// Lays the bytes of `range` at `target`.
    func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
        let head = range.clamped(to: 0..<block.count), tail = range.clamped(to: block.count..<byteCount)
        unsafe block.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress, !head.isEmpty { unsafe target.copyMemory(from: base + head.lowerBound, byteCount: head.count) }
        }
        unsafe sides.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, !tail.isEmpty else { return }
            unsafe (target + tail.lowerBound - range.lowerBound).copyMemory(from: base + tail.lowerBound - block.count, byteCount: tail.count)
        }
    }

    /// The message that announces the sample to the player.
    func description(offset: Int) -> DemuxedSample {
        DemuxedSample(
            trackID: sample.trackID, presentationTime: sample.presentationTime, decodeTime: sample.decodeTime, duration: sample.duration,
            sourcePresentationTimestamp: sample.sourcePresentationTimestamp, sourceDecodeTimestamp: sample.sourceDecodeTimestamp,
            sourceTimeBase: sample.sourceTimeBase, flags: sample.flags, packetFlags: unsafe block.packet.pointee.flags,
            fileOffset: sample.fileOffset, offset: offset, byteCount: block.count, sideByteCount: sides.count)
    }
}

/// Takes samples off the tray. Each is copied before it is looked at, because the process may still write there.
struct Unpacking {
    /// Bytes of a large sample that came in parts.
    private var parts: [UInt8] = []
    private let kept: KeptSamples

    init(_ kept: KeptSamples = KeptSamples()) { self.kept = kept }

    mutating func reset() { parts = [] }

    /// - Throws: when the process would send more than any sample has.
    mutating func add(_ byteCount: Int, of tray: SharedBytes) throws(ProcessEnd) {
        guard parts.count + byteCount <= DemuxerAnswer.largestSample else { throw ProcessEnd("sends a sample without end") }
        unsafe parts.append(contentsOf: UnsafeRawBufferPointer(start: tray.base, count: byteCount))
    }

    /// The sample that `described` describes, with its bytes in memory of this process's own.
    mutating func sample(_ described: DemuxedSample, of tray: SharedBytes, _ format: MediaFormat) throws(ProcessEnd) -> SampleBuffer {
        let total = described.byteCount + described.sideByteCount, here = total - parts.count
        guard total <= DemuxerAnswer.largestSample, here >= 0, described.offset + here <= tray.count else {
            throw ProcessEnd("sends a sample that lies elsewhere")
        }
        guard let packet = unsafe kept.makePacket(byteCount: described.byteCount, sideByteCount: described.sideByteCount) else {
            throw ProcessEnd("sends more than the player keeps")
        }
        let block = unsafe BlockBuffer(moving: packet)
        let source = unsafe UnsafeRawBufferPointer(start: tray.base + described.offset, count: here)
        let sides: [UInt8]
        if parts.isEmpty {
            if described.byteCount > 0 {
                unsafe UnsafeMutableRawPointer(packet.pointee.data).copyMemory(from: source.baseAddress!, byteCount: described.byteCount)
            }
            sides = unsafe Array(source[described.byteCount...])
        } else {
            unsafe parts.append(contentsOf: source)
            unsafe parts.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawPointer(packet.pointee.data).copyMemory(from: bytes.baseAddress!, byteCount: described.byteCount)
            }
            sides = Array(parts[described.byteCount...])
            reset()
        }
        guard unsafe sides.withUnsafeBytes({ unsafe SideData.add($0, to: packet, where: SideData.isSound) }) else {
            throw ProcessEnd("sends a sample with side data that make no sense")
        }
        // Not `AV_PKT_FLAG_TRUSTED`, which lets a decoder follow addresses in the bytes.
        let flags = described.packetFlags & (AV_PKT_FLAG_KEY | AV_PKT_FLAG_CORRUPT | AV_PKT_FLAG_DISCARD | AV_PKT_FLAG_DISPOSABLE)
        unsafe packet.pointee.flags = flags
        unsafe packet.pointee.pos = described.fileOffset ?? -1
        var sample = SampleBuffer(
            content: .compressed(block, format), trackID: described.trackID, presentationTime: described.presentationTime,
            decodeTime: described.decodeTime, duration: described.duration, flags: described.flags)
        sample.sourcePresentationTimestamp = described.sourcePresentationTimestamp
        sample.sourceDecodeTimestamp = described.sourceDecodeTimestamp
        sample.sourceTimeBase = described.sourceTimeBase
        return sample
    }
}
