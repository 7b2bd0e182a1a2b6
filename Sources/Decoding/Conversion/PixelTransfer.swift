internal import Glibc
public import Media
public import SurfacePool

/// Whatever makes pictures into others, into surfaces of a pool of its own: `PixelTransfer` on the CPU; a GPU can be another.
///
/// Thread-safety: one thread at a time; `interrupt` and `resume` from any.
public protocol PictureConverter: AnyObject, Sendable {
    var target: PictureTarget { get }
    /// Whether pictures like this one can be converted.
    func canConvert(_ format: PixelFormat) -> Bool
    /// The picture as the target wants it, with its times and flags. The source's use is only borrowed; it may end as soon as this returns.
    /// - Throws: `.unsupportedPixelFormat`, `.outOfSurfaces`.
    func convert(_ frame: borrowing VideoFrame) throws(DecodingError) -> VideoFrame
    /// Makes a `convert` that waits for a surface give up.
    func interrupt()
    func resume()
}

/// Converts pictures on the CPU: pixel format, depth, range, matrix and size, on several threads, into surfaces of a pool.
///
/// The counterpart of Video Toolbox's `VTPixelTransferSession`. zimg computes, in floating point or with 16-bit fixed point where that is as
/// exact, and rounds once at the end: results are within 1 code value of the exact ones for every matrix, range, depth and chroma siting. libswscale
/// is not used for this: of version 5.1 (FFmpeg), 10-bit RGB is off by up to 3.5 code values, packed RGB of colours outside the gamut by the whole
/// scale, and it ignores the siting of chroma in its fast paths; for showing 8-bit pictures (`DisplaySink`) it is quicker and good enough.
///
///     let transfer = PixelTransfer(to: PictureTarget(format: .bgra), holdCount: 3)
///     let picture = try transfer.convert(frame)
///
/// The primaries and the transfer curve stay as they are: a picture of BT.2020 keeps its gamut when it becomes RGB. Alpha is lost; where the target has
/// some it is opaque. Orientation is kept as a tag. A change of size keeps the picture's shape by its pixel aspect.
///
/// Thread-safety: one thread at a time; `interrupt` and `resume` from any.
public final class PixelTransfer: PictureConverter, @unchecked Sendable {
    public let target: PictureTarget
    private let allocator: any SurfaceAllocator
    private let maximumCount: Int
    private let maximumByteCount: Int
    private let statistics: FrameStatistics
    private let threads: SliceThreads
    private let shared = Monitor(Shared())
    private var plan: ConversionPlan?
    private var slices: [ConversionSlice] = []
    /// Computing, without waiting for surfaces.
    private(set) var secondsSpent = 0.0

    private struct Shared {
        var pool: SurfacePool?
        var isInterrupted = false
    }

    /// - Parameters:
    ///   - target: What pictures become.
    ///   - allocator: Where their memory comes from.
    ///   - holdCount: Converted pictures that consumers may hold at once; `convert` waits while they hold that many.
    ///   - maximumByteCount: Limit of their memory.
    ///   - threads: That compute, the caller's included; 0 takes one for each processor, up to 8.
    ///   - statistics: Whose `bytesCopied` grows by every picture.
    public init(
        to target: PictureTarget, allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4,
        maximumByteCount: Int = DecoderOptions.defaultMaximumSurfaceBytes, threads: Int = 0, statistics: FrameStatistics = FrameStatistics()
    ) {
        self.target = target
        self.allocator = allocator
        // One more is being written.
        maximumCount = holdCount + 1
        self.maximumByteCount = maximumByteCount
        self.statistics = statistics
        // More than 8 wait for memory, not for each other.
        self.threads = SliceThreads(count: threads > 0 ? threads : min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 8))
    }

    /// Formats with palettes, bit fields or less than 8 bits cannot be read or written.
    public func canConvert(_ format: PixelFormat) -> Bool { ComponentMap(format) != nil && ComponentMap(target.format) != nil }

    public func convert(_ frame: borrowing VideoFrame) throws(DecodingError) -> VideoFrame {
        let size = target.size ?? frame.visible.size
        let writer = try surface(for: size)
        let start = MonotonicClock.shared.now()
        let attributes = try convert(frame, to: writer.surface, size: size)
        secondsSpent += (MonotonicClock.shared.now() - start).seconds
        statistics.addCopied(target.format.byteCount(width: size.width, height: size.height))
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(size), attributes: attributes, presentationTime: frame.presentationTime,
            duration: frame.duration, sourceTimestamp: frame.sourceTimestamp, sourceTimeBase: frame.sourceTimeBase, flags: frame.flags,
            sequence: frame.sequence, sampleNumber: frame.sampleNumber)
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

    private func surface(for size: PixelSize) throws(DecodingError) -> SurfaceWriter {
        guard size.width > 0, size.height > 0 else {
            throw DecodingError(.unsupportedPixelFormat, "a picture of \(size.width)x\(size.height) is none")
        }
        let layout = SurfaceLayout(format: target.format, covering: size)
        let pool = shared.withLock { shared in
            let pool =
                shared.pool ?? SurfacePool(layout: layout, allocator: allocator, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
            shared.pool = pool
            return pool
        }
        if pool.layout != layout { pool.retire(layout) }
        if shared.withLock({ $0.isInterrupted }) { pool.interrupt() }
        do throws(SurfaceError) {
            if let writer = try pool.acquire(waitingUntil: nil) { return writer }
        } catch {
            throw DecodingError(.outOfSurfaces, error.description)
        }
        throw DecodingError(.outOfSurfaces, "no surface for a converted picture of \(layout.byteCount) bytes")
    }

    /// Writes the picture into `surface`, and says what it is then.
    private func convert(_ frame: borrowing VideoFrame, to surface: Surface, size: PixelSize) throws(DecodingError) -> PictureAttributes {
        let layout = frame.surface.layout, facts = layout.format.description, visible = frame.visible
        guard let source = ComponentMap(layout.format), let destination = ComponentMap(target.format) else {
            throw DecodingError(.unsupportedPixelFormat, "no conversion from \(layout.format.rawValue) to \(target.format.rawValue)")
        }
        var attributes = frame.attributes
        let color = frame.attributes.color.resolved(for: layout.format, size: visible.size)
        attributes.color = target.color(from: color, facts.model, size: size)
        if size != visible.size {
            let aspect = attributes.pixelAspect.isKnown ? attributes.pixelAspect : Ratio(1, 1)
            attributes.pixelAspect = Self.aspect(aspect, from: visible.size, to: size)
        }
        try prepare(
            ConversionPlan(
                source: .init(format: layout.format, color: color, size: visible.size),
                target: .init(format: target.format, color: attributes.color, size: size), filter: target.filter), source, destination)
        let slices = slices
        let to = unsafe ConversionSlice.Picture(
            planes: (0..<surface.layout.planeCount).map { unsafe surface.address(ofPlane: $0) },
            pitches: (0..<surface.layout.planeCount).map { surface.layout.plane($0).pitch })
        let hasFailed = Monitor(false)
        unsafe frame.surface.withUnsafeBytes { bytes in
            // Chroma that the visible part shares with its neighbours begins at its own sample; a part that begins between two is taken to begin at the first.
            let from = unsafe ConversionSlice.Picture(
                planes: (0..<layout.planeCount).map { unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress! + layout.plane($0).offset) },
                pitches: (0..<layout.planeCount).map { layout.plane($0).pitch }, left: visible.x, top: visible.y)
            let job = Job(from: from, to: to)
            threads.run(slices.count) { index in
                if !slices[index].convert(job.from, job.to) { hasFailed.withLock { $0 = true } }
            }
        }
        if hasFailed.withLock({ $0 }) { throw DecodingError(.outOfSurfaces, "no memory to convert a picture") }
        return attributes
    }

    /// Addresses that stay valid while the threads work.
    @safe
    private struct Job: @unchecked Sendable {
        let from: ConversionSlice.Picture
        let to: ConversionSlice.Picture
    }

    private func prepare(_ plan: ConversionPlan, _ source: ComponentMap, _ target: ComponentMap) throws(DecodingError) {
        guard plan != self.plan else { return }
        self.plan = nil
        slices = []
        let least = ConversionSlice.leastRows(from: plan.source.size.height, to: plan.target.size.height)
        for rows in Self.slices(height: plan.target.size.height, count: threads.count, least: least) {
            slices.append(try ConversionSlice(plan, source, target, rows: rows))
        }
        self.plan = plan
    }

    /// Rows for each thread: multiples of 16, so that no two write to one row of chroma or to one line of the cache, and not too few.
    static func slices(height: Int, count: Int, least: Int) -> [Range<Int>] {
        let slices = max(min(count, height / max(least, 1)), 1)
        let borders = (0...slices).map { $0 == slices ? height : height * $0 / slices / 16 * 16 }
        return zip(borders, borders.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil }
    }

    /// The shape of a pixel after the picture's size has changed, so that the picture keeps its own.
    static func aspect(_ aspect: Ratio, from: PixelSize, to: PixelSize) -> Ratio {
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
