public import Media
public import SurfacePool

/// Converts frames on the CPU: pixel format, depth, range, matrix and size, into surfaces of a pool.
///
/// The counterpart of Video Toolbox's `VTPixelTransferSession`.
///
///     let session = PixelTransferSession(to: ConversionTarget(format: .bgra), holdCount: 3)
///     let converted = try session.convert(frame)
///
/// The primaries and the transfer curve stay as they are, unless the target asks for `toneMapping`: a BT.2020 frame keeps its gamut when it
/// becomes RGB. Alpha is kept where source and target have it, straight; a target's alpha is opaque where the source has none. The orientation stays
/// a tag. A change of size keeps the frame's shape by its pixel aspect.
///
/// Thread-safety: one thread at a time; `interrupt` and `resume` from any.
public final class PixelTransferSession: FrameConverter, SurfaceWaiting, @unchecked Sendable {
    /// What computes the pixels.
    public enum Engine: Sendable, Hashable, CaseIterable {
        /// zimg: every code value is within 1 of the exact one, for every matrix, range, depth and chroma siting.
        case exact
        /// libswscale: for looking at 8-bit frames; packed RGB only. Frames in YUV with alpha are laid over black, by `.exact`.
        case fast
    }

    /// What frames are converted to, as given to `init`.
    public let target: ConversionTarget
    private let engine: any ConversionEngine
    private let threads: Int
    /// For frames in high dynamic range, and for those with alpha.
    private lazy var mapper: any ConversionEngine = engine as? ZimgEngine ?? ZimgEngine(threads: threads)
    private let surfaces: ConversionSurfaces
    private let rowAlignment: Int
    private let statistics: FrameStatistics
    /// Seconds of computing so far, without waits for surfaces.
    package private(set) var secondsSpent = 0.0
    /// Bytes of frames written so far.
    package private(set) var bytesWritten = 0

    /// Makes a session. Memory is allocated with the first frame.
    ///
    /// - Parameters:
    ///   - target: What frames are converted to.
    ///   - engine: What computes the pixels.
    ///   - allocator: Where the memory comes from.
    ///   - holdCount: Converted frames that consumers may hold at once.
    ///   - maximumByteCount: Limit of their memory, in bytes.
    ///   - rowAlignment: Rows begin so many bytes apart, or a multiple of it: a power of two, at least 64.
    ///   - waitsForSurface: Whether `convert` waits while consumers hold `holdCount` frames; else it throws `.outOfSurfaces` at once.
    ///   - threads: Threads that compute, the caller's included; 0 takes one for each processor, up to 8. `.fast` uses one, except for tone mapping.
    ///   - statistics: Whose `bytesCopied` grows by every frame.
    public init(
        to target: ConversionTarget, engine: Engine = .exact, allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4,
        maximumByteCount: Int = .max, rowAlignment: Int = 64, waitsForSurface: Bool = true, threads: Int = 0,
        statistics: FrameStatistics = FrameStatistics()
    ) {
        self.target = target
        self.engine =
            switch engine {
            case .exact: ZimgEngine(threads: threads)
            case .fast: SwscaleEngine()
            }
        self.threads = threads
        surfaces = ConversionSurfaces(
            allocator: allocator, holdCount: holdCount, maximumByteCount: maximumByteCount, waits: waitsForSurface)
        self.rowAlignment = rowAlignment
        self.statistics = statistics
    }

    /// Whether frames of `format` can be converted to the target. Formats with palettes, bit fields or less than 8 bits cannot be written, nor
    /// read by `.exact`.
    public func canConvert(_ format: PixelFormat) -> Bool { engine.canConvert(format, to: target.format) }

    /// Converts the visible part of a frame into a surface of the session's own pool, with the source's times, flags and attachments.
    ///
    /// Waits for a surface while consumers hold `holdCount` converted frames, unless the session was told not to.
    /// - Throws: `.unsupportedFormat` when the source cannot be converted, `.outOfSurfaces` when there is no surface or the wait was interrupted.
    public func convert(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> VideoFrame {
        let source = frame.surface.layout, lightMapping = try lightMapping(frame), alpha = alpha(frame.pixelFormat)
        let engine = lightMapping == nil && alpha == .kept ? engine : mapper
        guard engine.canConvert(source.format, to: target.format) else {
            throw .noConversion(from: source.format.rawValue, to: target.format.rawValue)
        }
        let part = engine.aligned(frame.visible, of: source.format), size = target.size(of: part.size)
        let writer = try surface(of: size)
        let start = MonotonicClock.shared.now()
        var plan = plan(frame, part, to: size, lightMapping)
        plan.alpha = alpha
        let layout = writer.surface.layout
        let planes = unsafe ImagePlanes(
            planes: (0..<layout.planeCount).map { unsafe writer.surface.address(ofPlane: $0) },
            pitches: (0..<layout.planeCount).map { layout.plane($0).pitch })
        try frame.surface.withImagePlanes(left: part.x, top: part.y) { source throws(PixelConversionError) in
            try engine.convert(plan, from: source, to: planes)
        }
        secondsSpent += (MonotonicClock.shared.now() - start).seconds
        let byteCount = target.format.byteCount(width: size.width, height: size.height)
        bytesWritten += byteCount
        statistics.addCopied(byteCount)
        var attributes = frame.attributes, visible = PixelRect(size)
        attributes.color = plan.target.color
        var attachments = frame.attachments
        if lightMapping != nil {
            attributes.hdr = nil
            // They speak of light that has been mapped.
            (attachments.hdr10Plus, attachments.dolbyVisionRPU) = (nil, nil)
        }
        if size != part.size {
            attributes.pixelAspect = Self.aspect(attributes.pixelAspect.isKnown ? attributes.pixelAspect : .one, from: part.size, to: size)
        } else {
            // What is converted beside the visible part, only to begin where a conversion can, stays invisible.
            visible = PixelRect(x: frame.visible.x - part.x, y: frame.visible.y - part.y, width: frame.visible.width, height: frame.visible.height)
        }
        return frame.moved(to: writer.finish(), visible: visible, attributes: attributes, attachments: attachments)
    }

    /// Ends the wait of a `convert` for a surface; it and every later one throw `.outOfSurfaces` until `resume`. Any thread.
    public func interrupt() { surfaces.interrupt() }

    /// Ends what `interrupt` began. Any thread.
    public func resume() { surfaces.resume() }

    /// How full the pool of converted frames is; before the first frame only its capacity. Any thread.
    public var poolStatistics: SurfacePoolStatistics { surfaces.statistics }

    // MARK: Converting

    /// - Throws: `.unsupportedFormat` when the light of a frame must be mapped, but not to RGB of full range.
    private func lightMapping(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> LightMapping? {
        guard let toneMapping = target.toneMapping,
            let found = LightMapping(frame.resolvedColor, frame.attributes.hdr, toneMapping)
        else { return nil }
        guard target.format.description.model == .rgb, target.range != .limited else {
            throw PixelConversionError(.unsupportedFormat, "tone mapping makes RGB of full range only")
        }
        return found
    }

    private func alpha(_ format: PixelFormat) -> AlphaTreatment {
        let isForLooking = !(engine is ZimgEngine)
        guard target.liesOverBlack || isForLooking, target.range != .limited else { return .kept }
        return AlphaTreatment(format, on: target.format, takesPackedRGB: !isForLooking)
    }

    private func plan(_ frame: borrowing VideoFrame, _ part: PixelRect, to size: PixelSize, _ lightMapping: LightMapping?) -> ConversionPlan {
        let format = frame.pixelFormat, color = frame.resolvedColor
        var made = target.color(from: color, format.description.model, size: size)
        if let lightMapping { made = lightMapping.color(from: made) }
        return ConversionPlan(
            source: .init(format: format, color: color, size: part.size), target: .init(format: target.format, color: made, size: size),
            filter: target.filter, lightMapping: lightMapping)
    }

    /// A surface to write.
    private func surface(of size: PixelSize) throws(PixelConversionError) -> SurfaceWriter {
        guard size.width > 0, size.height > 0 else { throw PixelConversionError(.unsupportedFormat, "a frame must be at least 1x1 pixels") }
        return try surfaces.take(SurfaceLayout(format: target.format, covering: size, pitchAlignment: rowAlignment))
    }

    /// The shape of a pixel after a change of size that keeps the shape of the frame.
    private static func aspect(_ aspect: Ratio, from: PixelSize, to: PixelSize) -> Ratio {
        var numerator = Int(aspect.numerator) * from.width * to.height, denominator = Int(aspect.denominator) * from.height * to.width
        var (a, b) = (numerator, denominator)
        while b != 0 { (a, b) = (b, a % b) }
        numerator /= max(a, 1)
        denominator /= max(a, 1)
        while numerator > Int(Int32.max) || denominator > Int(Int32.max) {
            numerator /= 2
            denominator /= 2
        }
        return denominator > 0 ? Ratio(Int32(numerator), Int32(denominator)) : .unknown
    }
}
