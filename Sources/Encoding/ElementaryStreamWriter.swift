internal import Bitstream
internal import Media
public import SampleQueue

/// Puts compressed samples of H.264 or HEVC out as a raw stream, for a file, a pipe or a socket.
///
/// The other end of `ElementaryStreamReader`: it makes the same samples of the bytes again, but for the times, which a raw stream does not have.
///
///     var writer = ElementaryStreamWriter()
///     try writer.write(sample, to: descriptor)
///
/// Every NAL unit gets a start code (H.264 and HEVC annex B), whatever the packaging of the samples is. The parameter sets of the format come
/// before each sync sample and wherever they change, so that a receiver can begin at every sync sample.
///
/// Thread-safety: a value.
public struct ElementaryStreamWriter: Sendable {
    /// The configuration whose parameter sets have been written last.
    private var written: [UInt8]?

    /// A writer before the first sample.
    public init() {}

    /// Lends the bytes of a sample, piece by piece and in their order: its parameter sets, where they are due, and its NAL units.
    ///
    /// Samples with start codes, as encoders make them, are lent as they lie; others are copied once.
    /// - Throws: `.unsupportedFormat` for samples of other codecs, markers and frames; nothing has been lent then. What `body` throws.
    public mutating func forEachPiece(
        of sample: SampleBuffer, _ body: (UnsafeRawBufferPointer) throws(EncodingError) -> Void
    ) throws(EncodingError) {
        guard case .compressed(let block, .video(let format)) = sample.content, let codec = NALCodec(format.codec) else {
            throw EncodingError(.unsupportedFormat, "only compressed samples of h264 and hevc make a raw stream")
        }
        if !sample.hasParameterSetsInBand, sample.flags.contains(.sync) || written != format.configuration, let sets = ParameterSets(format) {
            try unsafe Self.lend(sets.startCodeBytes, to: body)
            written = format.configuration
        }
        let packaging = NALPackaging(configuration: format.configuration, codec: codec)
        if packaging == .startCodes {
            try unsafe block.withUnsafeBytes { bytes throws(EncodingError) in try unsafe body(bytes) }
        } else {
            let packed = unsafe block.withUnsafeBytes { unsafe Array($0) }
            // Start codes have no limit.
            try unsafe Self.lend(packaging.convert(packed, to: .startCodes) ?? [], to: body)
        }
    }

    /// Writes a sample to a descriptor, waiting as long as its other end is slow. The program must ignore SIGPIPE.
    ///
    /// - Throws: as `forEachPiece`; `.output` with `errno` where the descriptor takes no more.
    public mutating func write(_ sample: SampleBuffer, to descriptor: Int32) throws(EncodingError) {
        try unsafe forEachPiece(of: sample) { bytes throws(EncodingError) in
            do throws(SystemError) {
                try unsafe writeWhole(bytes, to: descriptor)
            } catch {
                throw EncodingError(.output, "the stream cannot be written: \(error.description)", status: error.code)
            }
        }
    }

    private static func lend(
        _ bytes: [UInt8], to body: (UnsafeRawBufferPointer) throws(EncodingError) -> Void
    ) throws(EncodingError) {
        let result = unsafe bytes.withUnsafeBytes { bytes -> Result<Void, EncodingError> in
            do throws(EncodingError) { return .success(try unsafe body(bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}
