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
    /// Where the driver writes the planes of a field; nil where it does not give fields one by one.
    package var fieldLayout: SurfaceLayout?
    /// Whether the driver writes each plane to a piece of memory of its own. They are copied to where `layout` has them.
    package var isInPieces = false

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
            let pitches = pixels.description.planes.prefix(Int(CV4L2_PLANES)).map { ($0.rowBytes(width: choice.size.width) + 63) / 64 * 64 }
            Self.setPitches(pitches.map { UInt32(clamping: $0) }, of: &format)
        }
        guard unsafe cv4l2_set_format(node.fd, node.planarity, &format) == 0 else { throw node.failure("set the camera's format") }
        var rows = 1
        if Int(format.field) == CV4L2_FIELD_ALTERNATE {
            // The height is that of a field then. A driver that scales has taken it for that.
            format.height = UInt32(clamping: choice.size.height / 2)
            guard unsafe cv4l2_set_format(node.fd, node.planarity, &format) == 0 else { throw node.failure("set the camera's format") }
            rows = Int(format.field) == CV4L2_FIELD_ALTERNATE ? 2 : 1
        }
        let size = PixelSize(width: Int(format.width), height: Int(format.height) * rows)
        let encoding = CaptureEncoding(choice.code)
        guard format.fourcc == choice.code.rawValue, size == choice.size, encoding != .unknown else {
            throw CaptureError(
                .unsupported, "\(node.path): the camera gives \(FourCC(rawValue: format.fourcc)) \(size) instead of \(choice.code) \(choice.size).")
        }
        has525Lines = cv4l2_has_525_lines(node.fd) != 0
        field = CaptureField(format.field, has525Lines: has525Lines)
        guard field != .separate, field != .alternating || format.plane_count == 1 && encoding.isPixels else {
            throw CaptureError(.unsupported, "\(node.path): the camera gives fields in a way that is not read.")
        }
        code = choice.code
        self.size = size
        var stated = CaptureColor(
            colorspace: format.colorspace, ycbcr: format.ycbcr, quantization: format.quantization, transfer: format.transfer)
        if case .pixels(let pixels) = encoding {
            pixelFormat = pixels
            isInPieces = format.plane_count > 1
            let pitch = format.pitch, pitches = [pitch.0, pitch.1, pitch.2, pitch.3].prefix(Int(format.plane_count)).map(Int.init)
            layout =
                isInPieces
                ? try Self.layout(pixels, size, pitches: pitches, node.path)
                : try Self.layout(pixels, size, pitch: Int(pitch.0), byteCount: field == .alternating ? 0 : Int(format.bytes.0), node.path)
            if field == .alternating {
                let half = PixelSize(width: size.width, height: size.height / 2)
                fieldLayout = try Self.layout(pixels, half, pitch: Int(pitch.0), byteCount: Int(format.bytes.0), node.path)
            }
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
        return try checked(format, size, planes, byteCount: max(byteCount, end), path)
    }

    /// Where planes are copied to that the driver writes to pieces of memory of their own: one behind the other, with the driver's pitches.
    package static func layout(_ format: PixelFormat, _ size: PixelSize, pitches: [Int], _ path: String) throws(CaptureError) -> SurfaceLayout {
        let facts = format.description.planes
        guard pitches.count == facts.count else {
            throw CaptureError(.unsupported, "\(path): the camera writes \(format.rawValue) to \(pitches.count) pieces of memory, which is not read.")
        }
        var planes: [SurfaceLayout.Plane] = [], end = 0
        for (fact, pitch) in zip(facts, pitches) {
            planes.append(.init(offset: end, pitch: pitch))
            end += (pitch * fact.rows(height: size.height) + 63) / 64 * 64
        }
        return try checked(format, size, planes, byteCount: end, path)
    }

    private static func setPitches(_ pitches: [UInt32], of format: inout cv4l2_format) {
        let all = pitches + Array(repeating: 0, count: Int(CV4L2_PLANES) - pitches.count)
        format.pitch = (all[0], all[1], all[2], all[3])
        format.plane_count = 0
    }

    private static func checked(
        _ format: PixelFormat, _ size: PixelSize, _ planes: [SurfaceLayout.Plane], byteCount: Int, _ path: String
    ) throws(CaptureError) -> SurfaceLayout {
        // Whole pages, since DMA-BUFs have no others.
        let bytes = (byteCount + 4095) / 4096 * 4096
        do throws(SurfaceError) {
            return try SurfaceLayout(checking: format, size: size, modifier: .linear, planes: planes, byteCount: bytes)
        } catch {
            throw CaptureError(.failed, "\(path): the driver's layout of \(format.rawValue) \(size) makes no sense: \(error.description)")
        }
    }
}
