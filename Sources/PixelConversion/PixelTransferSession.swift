public import Media
public import SurfacePool

/// Converts frames on the CPU: pixel format, depth, range, matrix and size, into surfaces of a pool.
///
/// The counterpart of Video Toolbox's `VTPixelTransferSession`.
///
///     let session = PixelTransferSession(to: ConversionTarget(format: .bgra), holdCount: 3)
///     let converted = try session.convert(frame)
///
/// The primaries and the transfer curve stay as they are: a BT.2020 frame keeps its gamut when it becomes RGB. Alpha is lost; where the target has
/// alpha it is opaque. The orientation stays a tag. A change of size keeps the frame's shape by its pixel aspect.
///
/// Thread-safety: one thread at a time; `interrupt` and `resume` from any.
public final class PixelTransferSession: FrameConverter, @unchecked Sendable {
    /// What computes the pixels.
    public enum Engine: Sendable, Hashable, CaseIterable {
        /// zimg: every code value is within 1 of the exact one, for every matrix, range, depth and chroma siting.
        case exact
        /// libswscale: for looking at 8-bit frames; packed RGB only.
        case fast
    }

    public let target: ConversionTarget
    private let engine: any ConversionEngine
    private let allocator: any SurfaceAllocator
    private let maximumCount: Int
    private let maximumByteCount: Int
    private let waitsForSurface: Bool
    private let statistics: FrameStatistics
    private let shared = Monitor(Shared())
    private var lastDestination: PixelRect?
    /// Seconds of computing so far, without waits for surfaces.
    package private(set) var secondsSpent = 0.0
    /// Bytes of frames written so far.
    package private(set) var bytesWritten = 0

    private struct Shared {
        var pool: SurfacePool?
        var isInterrupted = false
    }

    /// - Parameters:
    ///   - target: What frames are converted to.
    ///   - engine: What computes the pixels.
    ///   - allocator: Where the memory comes from.
    ///   - holdCount: Converted frames that consumers may hold at once.
    ///   - maximumByteCount: Limit of their memory, in bytes.
    ///   - waitsForSurface: Whether `convert` waits while consumers hold `holdCount` frames; else it throws `.outOfSurfaces` at once.
    ///   - threads: Threads that compute, the caller's included; 0 takes one for each processor, up to 8. `.fast` uses one.
    ///   - statistics: Whose `bytesCopied` grows by every frame.
    public init(
        to target: ConversionTarget, engine: Engine = .exact, allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4,
        maximumByteCount: Int = .max, waitsForSurface: Bool = true, threads: Int = 0, statistics: FrameStatistics = FrameStatistics()
    ) {
        self.target = target
        self.engine =
            switch engine {
            case .exact: ZimgEngine(threads: threads)
            case .fast: SwscaleEngine()
            }
        self.allocator = allocator
        // One more is being written.
        maximumCount = holdCount + 1
        self.maximumByteCount = maximumByteCount
        self.waitsForSurface = waitsForSurface
        self.statistics = statistics
    }

    /// Formats with palettes, bit fields or less than 8 bits cannot be written, nor read by `.exact`.
    public func canConvert(_ format: PixelFormat) -> Bool { engine.canConvert(format, to: target.format) }

    public func convert(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> VideoFrame {
        let part = engine.aligned(frame.visible, of: frame.pixelFormat)
        // What lies beside the visible part only to be aligned is converted and stays invisible.
        let visible: PixelRect
        if target.size == nil {
            visible = PixelRect(x: frame.visible.x - part.x, y: frame.visible.y - part.y, width: frame.visible.width, height: frame.visible.height)
        } else {
            visible = PixelRect(target.size!)
        }
        let size = target.size ?? part.size
        return try convert(frame, part, to: PixelRect(size), of: size, visible: visible)
    }

    /// The part of the frame that `canvas` shows, on a black canvas.
    /// - Precondition: The target is RGB.
    package func convert(_ frame: borrowing VideoFrame, onto canvas: Canvas) throws(PixelConversionError) -> VideoFrame {
        precondition(target.format.description.model == .rgb, "only RGB canvases are black where nothing is written")
        let part = engine.aligned(canvas.part, of: frame.pixelFormat)
        return try convert(frame, part, to: canvas.destination, of: canvas.size, visible: PixelRect(canvas.size), isCanvas: true)
    }

    public func interrupt() {
        shared.withLock { shared -> SurfacePool? in
            shared.isInterrupted = true
            return shared.pool
        }?.interrupt()
    }

    public func resume() {
        shared.withLock { shared -> SurfacePool? in
            shared.isInterrupted = false
            return shared.pool
        }?.resume()
    }

    public var poolStatistics: SurfacePoolStatistics { shared.withLock { $0.pool }?.statistics ?? SurfacePoolStatistics(capacity: maximumCount) }

    // MARK: Converting

    private func convert(
        _ frame: borrowing VideoFrame, _ part: PixelRect, to destination: PixelRect, of size: PixelSize, visible: PixelRect, isCanvas: Bool = false
    ) throws(PixelConversionError) -> VideoFrame {
        let source = frame.surface.layout
        guard engine.canConvert(source.format, to: target.format) else {
            throw .noConversion(from: source.format.rawValue, to: target.format.rawValue)
        }
        let writer = try surface(of: size, showing: destination, isCanvas: isCanvas)
        let start = MonotonicClock.shared.now()
        var attributes = frame.attributes
        let color = frame.attributes.color.resolved(for: source.format, size: frame.visible.size)
        attributes.color = target.color(from: color, source.format.description.model, size: destination.size)
        if destination.size != part.size {
            let aspect = attributes.pixelAspect.isKnown ? attributes.pixelAspect : .one
            attributes.pixelAspect = Self.aspect(aspect, from: part.size, to: destination.size)
        }
        let plan = ConversionPlan(
            source: .init(format: source.format, color: color, size: part.size),
            target: .init(format: target.format, color: attributes.color, size: destination.size), filter: target.filter)
        let layout = writer.surface.layout
        let planes = unsafe (0..<layout.planeCount).map { plane in
            unsafe writer.surface.address(ofPlane: plane) + Self.offset(of: destination, in: layout, plane)
        }
        try run(plan, frame, part, to: unsafe ImagePlanes(planes: planes, pitches: (0..<layout.planeCount).map { layout.plane($0).pitch }))
        secondsSpent += (MonotonicClock.shared.now() - start).seconds
        let byteCount = target.format.byteCount(width: destination.width, height: destination.height)
        bytesWritten += byteCount
        statistics.addCopied(byteCount)
        return VideoFrame(
            use: writer.finish(), visible: visible, attributes: attributes, presentationTime: frame.presentationTime, duration: frame.duration,
            sourceTimestamp: frame.sourceTimestamp, sourceTimeBase: frame.sourceTimeBase, flags: frame.flags, sequence: frame.sequence,
            sampleNumber: frame.sampleNumber)
    }

    private func run(
        _ plan: ConversionPlan, _ frame: borrowing VideoFrame, _ part: PixelRect, to target: ImagePlanes
    ) throws(PixelConversionError) {
        let layout = frame.surface.layout
        try unsafe frame.surface.withUnsafeBytes { bytes throws(PixelConversionError) in
            let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
            let source = unsafe ImagePlanes(
                planes: (0..<layout.planeCount).map { unsafe base + layout.plane($0).offset },
                pitches: (0..<layout.planeCount).map { layout.plane($0).pitch }, left: part.x, top: part.y)
            try engine.convert(plan, from: source, to: target)
        }
    }

    /// A surface to write. A canvas is black beside `destination`: fresh memory is, and memory that showed a frame at the same place.
    private func surface(of size: PixelSize, showing destination: PixelRect, isCanvas: Bool) throws(PixelConversionError) -> SurfaceWriter {
        guard destination.width > 0, destination.height > 0 else {
            throw PixelConversionError(.unsupportedFormat, "a frame must be at least 1x1 pixels")
        }
        let layout = SurfaceLayout(format: target.format, covering: size)
        let pool = shared.withLock { shared in
            let pool =
                shared.pool ?? SurfacePool(layout: layout, allocator: allocator, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
            shared.pool = pool
            return pool
        }
        let place = isCanvas ? destination : nil
        if pool.layout != layout || (isCanvas && lastDestination != place) { pool.retire(layout) }
        lastDestination = place
        if shared.withLock({ $0.isInterrupted }) { pool.interrupt() }
        do throws(SurfaceError) {
            if let writer = try pool.acquire(waitingUntil: waitsForSurface ? nil : .distantPast) { return writer }
        } catch {
            throw PixelConversionError(.outOfSurfaces, error.description)
        }
        throw PixelConversionError(.outOfSurfaces, "there is no surface for a converted frame of \(layout.byteCount) bytes")
    }

    /// Bytes from the plane's beginning to the first pixel of `rect`.
    private static func offset(of rect: PixelRect, in layout: SurfaceLayout, _ plane: Int) -> Int {
        let planes = layout.format.description.planes
        guard plane < planes.count else { return 0 }
        let column = (rect.x >> planes[plane].horizontalShift) * planes[plane].bitsPerSample / 8
        return (rect.y >> planes[plane].verticalShift) * layout.plane(plane).pitch + column
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

/// Where a frame appears on a larger black image.
package struct Canvas: Hashable, Sendable {
    /// The whole image.
    package var size: PixelSize
    /// The part of the surface to show, in its pixels.
    package var part: PixelRect
    /// Where it appears on the canvas.
    package var destination: PixelRect

    package init(size: PixelSize, part: PixelRect, destination: PixelRect) {
        self.size = size
        self.part = part
        self.destination = destination
    }
}
