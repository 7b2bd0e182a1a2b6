import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Every pixel format, in every lossless encoder that takes it: the frames are those of libavcodec left to itself, and where the
/// decoder writes into the memory that it is given nothing is copied.
@Suite("pixel formats")
struct PixelFormatDecodingTests {
    /// rawvideo's frame is the packet itself: one copy cannot be avoided.
    private static let copying: Set<String> = ["rawvideo"]

    /// Formats that no software decoder of FFmpeg 5.1 puts out from what its encoders write. An entry that gets a decoder fails the test.
    private static let withoutDecoder: Set<PixelFormat> = [.yuvj440p, .yuvj411p, .ya16le, .nv16, .nv24, .p010le, .p016le]

    private static let sizes = [PixelSize(width: 75, height: 43), PixelSize(width: 128, height: 64)]

    @Test("noise comes through unchanged", arguments: TestExtent.cases(PixelFormat.allCases, sanitizedStep: 4))
    func identity(format: PixelFormat) throws {
        var tested = 0
        for encoder in SyntheticStream.losslessEncoders where SyntheticStream.canEncode(format, with: encoder) {
            for size in Self.sizes {
                guard let stream = try? SyntheticStream(encoder: encoder, pixelFormat: format, size: size, frames: 4),
                    let reference = ReferenceDecoder(stream.format)
                else { continue }
                for sample in stream.samples { reference.decode(sample) }
                reference.decode(nil)
                let decoded = try Decoded(stream)
                #expect(decoded.hashes.count == reference.frames.count, "\(encoder) \(size)")
                #expect(decoded.failures.isEmpty || reference.frames.isEmpty, "\(encoder) \(size)")
                let isSame = reference.frames.allSatisfy { $0.format == decoded.format?.rawValue }
                if isSame {
                    #expect(decoded.hashes == reference.frames.map(\.hash), "\(encoder) \(size)")
                } else {
                    // FFmpeg's big-endian frames (PNG's 16 bit) come in the little-endian order that displays know, at the price of a copy.
                    #expect(reference.frames.allSatisfy { $0.format.hasSuffix("be") }, "\(encoder) \(size): \(reference.frames[0].format)")
                }
                guard decoded.format == format, decoded.hashes.count == 4 else { continue }
                tested += 1
                if encoder == "ffv1", format != .bgr0, !format.description.hasAlpha, size.width % 8 == 0 {
                    #expect(decoded.hashes == stream.hashes, "\(encoder) \(size)")
                }
                let bytes = 4 * format.byteCount(width: size.width, height: size.height)
                #expect(decoded.bytesWritten >= bytes)
                #expect(decoded.bytesCopied == (isSame && !Self.copying.contains(encoder) ? 0 : bytes), "\(encoder) \(size)")
            }
        }
        #expect((tested == 0) == Self.withoutDecoder.contains(format), "\(tested) streams of \(format.rawValue)")
    }

    private struct Decoded {
        var hashes: [String] = []
        var failures: [String] = []
        var format: PixelFormat?
        var bytesWritten = 0
        var bytesCopied = 0

        init(_ stream: SyntheticStream) throws {
            let counters = FrameStatistics()
            let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 2), statistics: counters)
            var decoded = self
            func receive(_ output: consuming DecodeOutput) {
                switch consume output {
                case .frame(let frame):
                    decoded.hashes.append(FrameBytes(frame).md5)
                    decoded.format = frame.pixelFormat
                case .dropped(_, let reason): decoded.failures.append(reason.rawValue)
                case .failed(_, let error): decoded.failures.append(error.description)
                }
            }
            for sample in stream.samples { try session.decode(sample) { receive($0) } }
            session.finishDelayedFrames { receive($0) }
            self = decoded
            bytesWritten = counters.bytesWritten
            bytesCopied = counters.bytesCopied
        }
    }
}
