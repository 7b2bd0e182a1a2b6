internal import CAV
package import Media
package import SampleQueue

extension SampleBuffer {
    /// How much of a sample of sound is cut off at its beginning and at its end, because it is an encoder's padding
    /// (`AV_PKT_DATA_SKIP_SAMPLES`). Zero for other samples.
    package var soundPadding: (start: MediaTime, end: MediaTime) {
        guard case .compressed(let block, .audio(let format)) = content, format.sampleRate > 0 else { return (.zero, .zero) }
        var size = 0
        guard let mark = unsafe av_packet_get_side_data(block.packet, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else { return (.zero, .zero) }
        // Two numbers of samples, little-endian.
        let bytes = unsafe UnsafeRawBufferPointer(start: mark, count: size)
        let start = unsafe UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        let end = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let rate = Int32(format.sampleRate)
        return (MediaTime(value: Int64(start), timescale: rate), MediaTime(value: Int64(end), timescale: rate))
    }
}
