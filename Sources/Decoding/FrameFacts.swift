internal import CAV
internal import Media

/// Reads what one of libavcodec's frames says besides its pixels.
///
/// The container's `VideoFormat` fills in what the frame does not say. The container's pixel aspect and orientation take precedence.
struct FrameFacts {
    private let format: VideoFormat

    init(format: VideoFormat) { self.format = format }

    /// The part of the coded frame that is meant to be seen; never empty.
    func visible(in frame: UnsafePointer<AVFrame>) -> PixelRect {
        let width = unsafe Int(frame.pointee.width), height = unsafe Int(frame.pointee.height)
        let left = unsafe frame.pointee.crop_left, right = unsafe frame.pointee.crop_right
        let top = unsafe frame.pointee.crop_top, bottom = unsafe frame.pointee.crop_bottom
        guard left < width, right < width, top < height, bottom < height, left + right < width, top + bottom < height else {
            return PixelRect(x: 0, y: 0, width: width, height: height)
        }
        return PixelRect(x: Int(left), y: Int(top), width: width - Int(left + right), height: height - Int(top + bottom))
    }

    func attributes(of frame: UnsafePointer<AVFrame>) -> FrameAttributes {
        var attributes = format.attributes
        let aspect = unsafe frame.pointee.sample_aspect_ratio
        if !attributes.pixelAspect.isKnown {
            let own = Ratio(aspect.num, aspect.den)
            attributes.pixelAspect = own.isKnown ? own : .unknown
        }
        unsafe merge(&attributes.color, frame)
        if let hdr = unsafe hdr(of: frame) { attributes.hdr = hdr }
        return attributes
    }

    private func merge(_ color: inout ColorDescription, _ frame: UnsafePointer<AVFrame>) {
        let unspecified = 2
        let primaries = unsafe Int(frame.pointee.color_primaries.rawValue), transfer = unsafe Int(frame.pointee.color_trc.rawValue)
        let matrix = unsafe Int(frame.pointee.colorspace.rawValue)
        if primaries != unspecified, let value = UInt8(exactly: primaries) { color.primaries = value }
        if transfer != unspecified, let value = UInt8(exactly: transfer) { color.transfer = value }
        if matrix != unspecified, let value = UInt8(exactly: matrix) { color.matrix = value }
        let range = unsafe ColorRange(rawValue: UInt8(truncatingIfNeeded: frame.pointee.color_range.rawValue))
        if let range, range != .unspecified { color.range = range }
        let siting = unsafe ChromaSiting(rawValue: UInt8(truncatingIfNeeded: frame.pointee.chroma_location.rawValue))
        if let siting, siting != .unspecified { color.chromaSiting = siting }
    }

    /// Mastering display (SMPTE ST 2086) and content light level (CTA-861.3), in the units of HEVC's SEI messages.
    private func hdr(of frame: UnsafePointer<AVFrame>) -> HDRStaticMetadata? {
        let mastering = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)
        let light = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)
        if unsafe mastering == nil && light == nil { return nil }
        let nowhere = HDRStaticMetadata.Chromaticity(x: 0, y: 0)
        var hdr =
            format.attributes.hdr
            ?? HDRStaticMetadata(red: nowhere, green: nowhere, blue: nowhere, white: nowhere, maximumLuminance: 0, minimumLuminance: 0)
        if let data = unsafe mastering?.pointee.data {
            let display = unsafe UnsafeRawPointer(data).load(as: AVMasteringDisplayMetadata.self)
            func units(_ ratio: AVRational, _ scale: Double) -> UInt32 {
                guard ratio.den != 0 else { return 0 }
                return UInt32(clamping: Int((Double(ratio.num) / Double(ratio.den) * scale).rounded()))
            }
            func point(_ pair: (AVRational, AVRational)) -> HDRStaticMetadata.Chromaticity {
                .init(x: UInt16(clamping: units(pair.0, 50_000)), y: UInt16(clamping: units(pair.1, 50_000)))
            }
            if display.has_primaries != 0 {
                hdr.red = point(display.display_primaries.0)
                hdr.green = point(display.display_primaries.1)
                hdr.blue = point(display.display_primaries.2)
                hdr.white = point(display.white_point)
            }
            if display.has_luminance != 0 {
                hdr.maximumLuminance = units(display.max_luminance, 10_000)
                hdr.minimumLuminance = units(display.min_luminance, 10_000)
            }
        }
        if let data = unsafe light?.pointee.data {
            let level = unsafe UnsafeRawPointer(data).load(as: AVContentLightMetadata.self)
            hdr.maximumContentLightLevel = UInt16(clamping: level.MaxCLL)
            hdr.maximumFrameAverageLightLevel = UInt16(clamping: level.MaxFALL)
        }
        return hdr
    }
}
