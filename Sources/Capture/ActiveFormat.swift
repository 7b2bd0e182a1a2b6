internal import CV4L2
public import Media
package import SurfacePool

/// What a camera delivers while a session runs.
public struct ActiveFormat: Sendable, Hashable {
    /// The driver's code.
    public var code: FourCC
    /// The codec of compressed frames, which are decoded; nil for pixels.
    public var codec: VideoCodec?
    /// How the pixels lie. What a decoder makes of compressed frames may lie otherwise; each frame says it.
    public var pixelFormat: PixelFormat
    /// Of each frame, in pixels.
    public var size: PixelSize
    /// Frames a second as the driver states it; unknown where it does not.
    public var rate: Ratio
    /// The colours that the driver states.
    public var color: ColorDescription
    /// Width of a pixel over its height; unknown: square.
    public var pixelAspect = Ratio.unknown
    /// How the fields lie.
    package var field = CaptureField.progressive
    /// Whether the analog standard has 525 lines.
    package var has525Lines = false
    /// Where the driver writes the planes.
    package var layout: SurfaceLayout

    /// Describes frames that come from elsewhere.
    package init(code: FourCC, size: PixelSize, rate: Ratio, color: ColorDescription, layout: SurfaceLayout) {
        (self.code, self.size, self.rate, self.color, self.layout) = (code, size, rate, color, layout)
        pixelFormat = layout.format
    }

    /// Sets the format and the rate on the device and takes what the driver made of them.
    init(_ choice: CaptureRequest.Choice, on node: CameraNode) throws(CaptureError) {
        var format = cv4l2_format()
        format.width = UInt32(clamping: choice.size.width)
        format.height = UInt32(clamping: choice.size.height)
        format.fourcc = choice.code.rawValue
        format.field = UInt32(CV4L2_FIELD_NONE)
        // 64 bytes: what importers of DMA-BUFs want. A driver may have its own way.
        if case .pixels(let pixels) = CaptureEncoding(choice.code) {
            format.pitch.0 = UInt32(clamping: (pixels.description.planes[0].rowBytes(width: choice.size.width) + 63) / 64 * 64)
        }
        guard unsafe cv4l2_set_format(node.fd, node.planarity, &format) == 0 else { throw node.failure("set the camera's format") }
        let size = PixelSize(width: Int(format.width), height: Int(format.height))
        let encoding = CaptureEncoding(choice.code)
        guard format.fourcc == choice.code.rawValue, size == choice.size, encoding != .unknown else {
            throw CaptureError(
                .unsupported, "\(node.path): the camera gives \(FourCC(rawValue: format.fourcc)) \(size) instead of \(choice.code) \(choice.size).")
        }
        has525Lines = cv4l2_has_525_lines(node.fd) != 0
        field = CaptureField(format.field, has525Lines: has525Lines)
        guard format.plane_count == 1, field != .separate else {
            throw CaptureError(.unsupported, "\(node.path): the camera gives fields or planes one by one, which are not read.")
        }
        code = choice.code
        self.size = size
        var stated = CaptureColor(
            colorspace: format.colorspace, ycbcr: format.ycbcr, quantization: format.quantization, transfer: format.transfer)
        if case .pixels(let pixels) = encoding {
            pixelFormat = pixels
            layout = try Self.layout(pixels, size, pitch: Int(format.pitch.0), byteCount: Int(format.bytes.0), node.path)
        } else {
            if case .compressed(let codec) = encoding { self.codec = codec }
            // JPEG has its own colours, whatever a driver says.
            if codec == .mjpeg { stated = CaptureColor(colorspace: CaptureColor.jpeg) }
            pixelFormat = .yuv420p
            layout = SurfaceLayout(format: .yuv420p, covering: size)
        }
        color = stated.description(for: pixelFormat)
        rate = Self.setRate(choice.rate, on: node)
        pixelAspect = Self.pixelAspect(of: size, on: node)
    }

    /// Whether frames hold two fields each.
    public var isInterlaced: Bool { field != .progressive }

    /// The shape of the pixels where it is not square. A driver states it for frames that it does not scale.
    private static func pixelAspect(of size: PixelSize, on node: CameraNode) -> Ratio {
        var found = cv4l2_aspect()
        guard unsafe cv4l2_pixel_aspect(node.fd, node.planarity, &found) == 0, Int(found.width) == size.width, Int(found.height) == size.height,
            found.numerator != found.denominator, found.numerator > 0, found.denominator > 0
        else { return .unknown }
        return Ratio(Int32(clamping: found.numerator), Int32(clamping: found.denominator))
    }

    /// How long a frame lasts; `.invalid` where the rate is unknown.
    var frameDuration: MediaTime {
        rate.isKnown ? MediaTime(value: Int64(rate.denominator), timescale: rate.numerator) : .invalid
    }

    /// Asks for a rate, or for none, and returns what the driver runs at.
    private static func setRate(_ rate: Ratio?, on node: CameraNode) -> Ratio {
        if let rate, let set = try? changeRate(rate, on: node) { return set }
        var numerator: UInt32 = 0, denominator: UInt32 = 0
        guard unsafe cv4l2_get_interval(node.fd, node.planarity, &numerator, &denominator) == 0 else { return .unknown }
        return CameraNode.rate(numerator, denominator)
    }

    /// Asks for a rate and returns what the driver made of it.
    static func changeRate(_ rate: Ratio, on node: CameraNode) throws(CaptureError) -> Ratio {
        guard rate.isKnown else { throw CaptureError(.unsupported, "\(node.path): a rate is above zero.") }
        var numerator = UInt32(rate.denominator), denominator = UInt32(rate.numerator)
        guard unsafe cv4l2_set_interval(node.fd, node.planarity, &numerator, &denominator) == 0 else {
            throw node.failure("set the camera's rate to \(rate)")
        }
        return CameraNode.rate(numerator, denominator)
    }

    /// V4L2's layout of one piece of memory: plane after plane, each pitch in the ratio of its plane to the first (the kernel's documentation of
    /// "multi-planar formats in one memory buffer").
    package static func layout(
        _ format: PixelFormat, _ size: PixelSize, pitch: Int, byteCount: Int, _ path: String
    ) throws(CaptureError) -> SurfaceLayout {
        let facts = format.description.planes
        var planes: [SurfaceLayout.Plane] = [], end = 0
        for fact in facts {
            let own = ((pitch * fact.bitsPerSample / facts[0].bitsPerSample) << facts[0].horizontalShift) >> fact.horizontalShift
            planes.append(.init(offset: end, pitch: own))
            end += own * fact.rows(height: size.height)
        }
        // Whole pages, since DMA-BUFs have no others.
        let bytes = (max(byteCount, end) + 4095) / 4096 * 4096
        do throws(SurfaceError) {
            return try SurfaceLayout(checking: format, size: size, modifier: .linear, planes: planes, byteCount: bytes)
        } catch {
            throw CaptureError(.failed, "\(path): the driver's layout of \(format.rawValue) \(size) makes no sense: \(error.description)")
        }
    }
}
