internal import Decoding
package import Media
internal import SampleQueue
internal import SurfacePool

/// Decodes a camera's compressed frames into surfaces, one at a time on the camera's thread, and knows what has become of each.
///
/// Each frame comes out with the sample that carries it (`lowDelay`), in software: what cameras send is quick to decode.
///
/// Thread-safety: one thread.
final class CameraDecoder {
    private let session: DecompressionSession
    private let stream: MediaFormat
    private let codec: VideoCodec
    private let color: ColorDescription
    private let duration: MediaTime
    private var state: CompressedQueueState<BlockBuffer, SharedFrame>

    /// - Parameter frames: Frames that programs and displays hold.
    init(_ format: ActiveFormat, _ codec: VideoCodec, frames: Int, allocator: any SurfaceAllocator, counters: FrameStatistics, _ path: String)
        throws(CaptureError)
    {
        let video = VideoFormat(
            codec: codec, codedSize: format.size, attributes: FrameAttributes(color: format.color), frameRate: format.rate)
        stream = .video(video)
        self.codec = codec
        color = format.color
        duration = format.frameDuration
        state = CompressedQueueState(isIntra: codec == .mjpeg)
        let options = DecoderOptions(lowDelay: true, holdCount: frames, specification: DecoderSpecification(hardware: .disable))
        do throws(DecodingError) {
            session = try DecompressionSession(format: video, options: options, allocator: allocator, statistics: counters)
        } catch { throw CaptureError(.unsupported, "\(path): \(error.description).") }
    }

    /// Takes a frame of the driver's.
    func add(_ block: BlockBuffer, _ receipt: SequenceState.Receipt, at time: HostTime) {
        let isSync = unsafe block.withUnsafeBytes { unsafe CompressedBytes.isSync($0, codec) }
        state.add(block, isSync: isSync, receipt, at: time, hasRoom: !session.isExhausted)
    }

    /// Takes note of a frame that the driver could not deliver whole.
    func lose(_ reason: CaptureDrop.Reason, _ receipt: SequenceState.Receipt, at time: HostTime) { state.lose(reason, receipt, at: time) }

    /// Whether `step` would decode something.
    var canStep: Bool { state.hasSample && !session.isExhausted }

    /// Decodes a frame.
    func step() {
        guard canStep, let next = state.give() else { return }
        let time = MediaTime(nanoseconds: next.time.nanoseconds)
        let sample = SampleBuffer(
            content: .compressed(next.sample, stream), presentationTime: time, decodeTime: time, duration: duration,
            flags: next.isSync ? .sync : .dependsOnOthers)
        try? session.decode(sample) { answer in
            switch consume answer {
            case .frame(let frame): receive(frame)
            case .dropped(let receipt, _): state.answer(receipt.number, .lost(.damaged))
            case .failed(let receipt, _): state.answer(receipt.number, .lost(.damaged))
            }
        }
    }

    private func receive(_ frame: consuming VideoFrame) {
        guard let number = frame.sampleNumber, let entry = state.entry(number) else { return }
        guard !frame.flags.contains(.corrupt) else { return state.answer(number, .lost(.damaged)) }
        var attributes = frame.attributes
        if attributes.color.matrix == ColorDescription.unspecified.matrix { attributes.color = color }
        let visible = frame.visible
        let shared = SharedFrame(
            VideoFrame(
                use: frame.takeUse(), visible: visible, attributes: attributes, presentationTime: MediaTime(nanoseconds: entry.time.nanoseconds),
                duration: duration, sequence: entry.receipt.number))
        state.answer(number, .frame(shared))
    }

    /// The oldest frame whose fate is known.
    func take() -> CaptureStream.Outcome? {
        guard let (entry, fate) = state.take() else { return nil }
        switch fate {
        case .frame(let frame): return .frame(frame, entry.receipt, entry.time)
        case .lost(let reason): return .lost(reason, entry.receipt, entry.time)
        }
    }

    /// Ends it. What has not been decoded comes out of `take` as lost.
    func end() {
        session.invalidate()
        state.finish()
    }
}

/// What the bytes of compressed frames say.
package enum CompressedBytes {
    /// Whether decoding can begin with this frame: every one of Motion-JPEG's; one of H.264's and HEVC's whose first slice is that of a random access
    /// frame.
    package static func isSync(_ bytes: UnsafeRawBufferPointer, _ codec: VideoCodec) -> Bool {
        guard codec == .h264 || codec == .hevc else { return true }
        var zeros = 0
        for index in 0..<max(bytes.count - 1, 0) {
            let byte = unsafe bytes[index]
            if byte == 1, zeros >= 2 {
                let header = unsafe bytes[index + 1]
                let type = codec == .h264 ? header & 0x1f : header >> 1 & 0x3f
                if codec == .h264, (1...5).contains(type) { return type == 5 }
                if codec == .hevc, type < 32 { return (16...23).contains(type) }
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return false
    }
}
