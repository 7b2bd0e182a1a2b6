internal import CScanout
internal import Media
internal import SampleQueue

// Formats and samples from their C descriptions.

extension VideoFormat {
    /// Nil when a member is out of range. 16384: no frame is wider or higher.
    init?(_ format: scanout_video_format) {
        guard let codec = unsafe format.codec, unsafe format.width <= 16384 && format.height <= 16384,
            let rotation = unsafe FrameOrientation.Rotation(rawValue: Int(format.rotation)), let range = unsafe ColorRange(rawValue: format.range)
        else { return nil }
        let count = unsafe Int(format.setup_size), setup = unsafe format.setup
        guard unsafe count == 0 || setup != nil, count <= 1 << 20 else { return nil }
        let aspect = unsafe format.pixel_aspect
        let isAspectSane = aspect.0 <= Int32.max && aspect.1 <= Int32.max
        var attributes = FrameAttributes(
            pixelAspect: isAspectSane ? Ratio(Int32(aspect.0), Int32(aspect.1)) : .unknown, orientation: FrameOrientation(rotation: rotation))
        // 2 is "unspecified" in H.273. 0 is reserved for primaries and transfer, and is RGB for the matrix, which the samples themselves say.
        func code(_ value: UInt8) -> UInt8 { value == 0 ? 2 : value }
        attributes.color = unsafe ColorDescription(
            primaries: code(format.primaries), transfer: code(format.transfer), matrix: code(format.matrix), range: range)
        let size = unsafe PixelSize(width: Int(format.width), height: Int(format.height))
        self.init(
            codec: VideoCodec(name: unsafe String(cString: codec)), codedSize: size, attributes: attributes,
            configuration: unsafe [UInt8](UnsafeRawBufferPointer(start: setup, count: count)),
            reorderDepth: unsafe Int32(min(format.reorder_depth, 16)))
    }
}

extension SampleBuffer {
    /// Copies the program's bytes; nil when a member is out of range. 1 GiB: every access unit is far smaller. A larger count was not initialised.
    init?(_ sample: scanout_sample, _ format: MediaFormat) {
        let count = unsafe sample.byte_count, scale = unsafe sample.timescale
        guard let bytes = unsafe sample.bytes, count > 0, count <= 1 << 30, scale <= Int32.max else { return nil }
        func time(_ value: Int64) -> MediaTime {
            value == .min ? .invalid : MediaTime(value: value, timescale: scale == 0 ? 1_000_000_000 : Int32(scale))
        }
        let block = unsafe BlockBuffer(copying: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        let duration = unsafe sample.duration
        self.init(
            content: .compressed(block, format), presentationTime: time(unsafe sample.time), decodeTime: time(unsafe sample.decode_time),
            duration: duration > 0 ? time(duration) : .invalid, flags: SampleFlags(rawValue: unsafe UInt16(truncatingIfNeeded: sample.flags)))
    }
}
