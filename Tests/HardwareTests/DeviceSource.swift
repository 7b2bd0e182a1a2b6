import Decoding
import Encoding
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// Frames that a program draws, in surfaces of the session's own pool, and what a device makes of them.
final class DeviceSource {
    let session: CompressionSession
    let pool: SurfacePool
    let counters = FrameStatistics()
    private(set) var given = 0
    /// Answers by the frame's number.
    private(set) var answered: [Int: Int] = [:]
    private(set) var flushed = 0, failed = 0
    private(set) var errors: [EncodingError] = []
    private var samples: [SampleBuffer] = []
    /// Of each frame, as it was drawn.
    private var drawn: [[UInt8]] = []

    static let size = PixelSize(width: 100, height: 52)

    struct NoSurface: Error {}

    init(_ options: EncoderOptions = .device()) throws {
        var options = options
        options.pixelFormat = .nv12
        session = try CompressionSession(
            format: VideoFormat(codec: .h264, codedSize: Self.size, frameRate: Ratio(25, 1)), options: options, statistics: counters)
        pool = session.makeSourcePool()
    }

    /// Encodes so many more frames, each different in every row.
    func encode(count: Int, forcing: Bool = false, completing: Bool = true) throws {
        for _ in 0..<count {
            guard let writer = try pool.acquire() else { throw NoSurface() }
            let number = given, layout = writer.surface.layout
            unsafe writer.withUnsafeMutableBytes { bytes in
                let pitch = layout.plane(0).pitch
                for index in 0..<bytes.count { unsafe bytes[index] = UInt8(truncatingIfNeeded: index / pitch * 3 + index + number * 7) }
            }
            given += 1
            let frame = VideoFrame(
                use: writer.finish(), visible: PixelRect(Self.size), presentationTime: MediaTime(value: Int64(number), timescale: 25),
                duration: MediaTime(value: 1, timescale: 25), sequence: UInt64(number))
            drawn.append(FrameBytes(frame).bytes)
            var answers: [EncodeOutput] = []
            try session.encode(frame, EncodeInstructions(forcesKeyFrame: forcing)) { answers.append($0) }
            receive(answers)
        }
        if completing { try complete() }
    }

    func complete() throws {
        var answers: [EncodeOutput] = []
        try session.completeFrames { answers.append($0) }
        receive(answers)
    }

    func flush() throws {
        var answers: [EncodeOutput] = []
        try session.flush { answers.append($0) }
        receive(answers)
    }

    private func receive(_ answers: [EncodeOutput]) {
        for answer in answers {
            answered[Int(answer.receipt.number), default: 0] += 1
            switch answer {
            case .sample(let sample, _): samples.append(sample)
            case .dropped: flushed += 1
            case .failed(_, let error):
                failed += 1
                errors.append(error)
            }
        }
    }

    /// Numbers of the frames that come out otherwise than they were drawn; all of them when some do not come out.
    func differences() throws -> [Int] {
        let session = try DecompressionSession(format: session.format, options: DecoderOptions(threads: 1, holdCount: 1, specification: .software))
        var frames: [[UInt8]] = []
        func receive(_ output: consuming DecodeOutput) {
            if case .frame(let frame) = consume output { frames.append(FrameBytes(frame).nv12 ?? []) }
        }
        for sample in samples { try session.decode(sample) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        guard frames.count == drawn.count else { return Array(drawn.indices) }
        return drawn.indices.filter { frames[$0] != drawn[$0] }
    }
}
