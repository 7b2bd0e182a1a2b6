internal import Glibc
public import Media
public import SurfacePool

/// Changes the brightness and colours of frames on the CPU, into surfaces of a pool that have the frames' own pixel format.
///
/// Frames in RGB become YUV 4:4:4 of 8 bits first. Alpha is kept, as are times, flags and attachments.
///
/// Thread-safety: one thread at a time.
public final class ColorBalanceSession {
    /// What is changed, from the next frame on.
    public var balance = ColorBalance()
    private let surfaces: ConversionSurfaces
    private let statistics: FrameStatistics
    private var tables: (key: Key, tables: ColorBalanceTables)?
    private lazy var threads = SliceThreads(count: min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 4))
    /// For frames in RGB, without alpha and with it.
    private lazy var transfers = [PixelFormat.yuv444p, .yuva444p].map {
        PixelTransferSession(to: ConversionTarget(format: $0), holdCount: 1, waitsForSurface: false, statistics: statistics)
    }
    /// Bytes of frames written so far.
    package private(set) var bytesWritten = 0

    /// What tables are made for.
    private struct Key: Hashable {
        var balance: ColorBalance
        var depth: Int
        var range: ColorRange
    }

    /// Makes a session. Memory is allocated with the first frame.
    ///
    /// - Parameters:
    ///   - allocator: Where the memory comes from.
    ///   - holdCount: Changed frames that consumers may hold at once.
    ///   - waitsForSurface: Whether `convert` waits while consumers hold `holdCount` frames; else it throws `.outOfSurfaces` at once.
    ///   - statistics: Whose `bytesCopied` grows by every frame.
    public init(
        allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4, waitsForSurface: Bool = true,
        statistics: FrameStatistics = FrameStatistics()
    ) {
        surfaces = ConversionSurfaces(allocator: allocator, holdCount: holdCount, waits: waitsForSurface)
        self.statistics = statistics
    }

    /// Whether frames in `format` can be changed. Formats with palettes, bit fields or less than 8 bits cannot.
    public static func canConvert(_ format: PixelFormat) -> Bool { ComponentMap(format) != nil }

    /// The frame with its brightness and colours changed as `balance` says.
    ///
    /// - Throws: `.unsupportedFormat` for formats that `canConvert` does not take and for memory that the CPU cannot read, `.outOfSurfaces`.
    public func convert(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> VideoFrame {
        let format = frame.pixelFormat, facts = format.description
        guard let map = ComponentMap(format) else {
            throw PixelConversionError(.unsupportedFormat, "the colours of \(format.rawValue) cannot be changed")
        }
        guard frame.surface.isReadable else {
            throw PixelConversionError(.unsupportedFormat, "the colours of frames that the CPU cannot read cannot be changed")
        }
        if facts.model == .rgb {
            let transfer = transfers[facts.hasAlpha ? 1 : 0], before = transfer.bytesWritten
            let made = try transfer.convert(frame)
            bytesWritten += transfer.bytesWritten - before
            return try convert(made)
        }
        // A surface of the same size: displays treat the frame as they treat its source.
        let layout = SurfaceLayout(format: format, covering: frame.surface.layout.size), writer = try surfaces.take(layout)
        let part = Self.aligned(frame.visible, facts)
        let target = unsafe ImagePlanes(
            planes: (0..<layout.planeCount).map { unsafe writer.surface.address(ofPlane: $0) },
            pitches: (0..<layout.planeCount).map { layout.plane($0).pitch })
        let key = Key(balance: balance, depth: map.depth, range: frame.resolvedColor.range)
        let tables = tables(key), threads = threads
        let slices = ZimgEngine.slices(height: part.height, count: threads.count, least: 64)
        try frame.surface.withImagePlanes(left: 0, top: 0) { source throws(PixelConversionError) in
            let job = ColorBalanceJob(tables: tables, map: map, facts: facts, part: part, source: source, target: target)
            threads.run(slices.count) { job.balance(rows: slices[$0]) }
        }
        let byteCount = format.byteCount(width: part.width, height: part.height)
        bytesWritten += byteCount
        statistics.addCopied(byteCount)
        return frame.moved(to: writer.finish(), visible: frame.visible)
    }

    /// The smallest rectangle around `rect` that holds whole samples of chroma.
    private static func aligned(_ rect: PixelRect, _ facts: PixelFormat.Description) -> PixelRect {
        let left = (rect.x >> facts.chromaShiftX) << facts.chromaShiftX, top = (rect.y >> facts.chromaShiftY) << facts.chromaShiftY
        return PixelRect(x: left, y: top, width: rect.x + rect.width - left, height: rect.y + rect.height - top)
    }

    private func tables(_ key: Key) -> ColorBalanceTables {
        if let tables, tables.key == key { return tables.tables }
        let made = ColorBalanceTables(key.balance, depth: key.depth, range: key.range)
        tables = (key, made)
        return made
    }
}

/// One frame to change, on several threads that each take some rows.
@safe
private struct ColorBalanceJob: @unchecked Sendable {
    let tables: ColorBalanceTables
    let map: ComponentMap
    let facts: PixelFormat.Description
    /// In pixels of both images.
    let part: PixelRect
    let source: ImagePlanes
    let target: ImagePlanes

    /// - Parameter rows: Of `part`; they begin with whole samples of chroma.
    func balance(rows: Range<Int>) {
        map.bytesPerSample == 1 ? balance(rows, of: UInt8.self) : balance(rows, of: UInt16.self)
    }

    private func balance<Value: FixedWidthInteger & UnsignedInteger>(_ rows: Range<Int>, of type: Value.Type) {
        let size = MemoryLayout<Value>.size, luma = map.components[0]
        for row in rows {
            let place = Place(luma, x: part.x, y: part.y + row)
            unsafe tables.balanceLuma(
                UnsafePointer(place.start(in: source, type)), to: place.start(in: target, type), step: luma.step / size, shift: luma.shift,
                count: part.width)
            for filler in map.fillers {
                let place = Place(filler, x: part.x, y: part.y + row), step = filler.step / size
                let old = unsafe place.start(in: source, type), new = unsafe place.start(in: target, type)
                for x in 0..<part.width { unsafe new[x &* step] = old[x &* step] }
            }
        }
        guard map.components.count == 3 else { return }
        let (cb, cr) = (map.components[1], map.components[2]), width = facts.chroma(part.width)
        for row in stride(from: rows.lowerBound, to: rows.upperBound, by: 1 << facts.chromaShiftY) {
            let x = part.x >> facts.chromaShiftX, y = (part.y + row) >> facts.chromaShiftY
            let first = Place(cb, x: x, y: y), second = Place(cr, x: x, y: y)
            let old = unsafe (UnsafePointer(first.start(in: source, type)), UnsafePointer(second.start(in: source, type)))
            let new = unsafe (first.start(in: target, type), second.start(in: target, type)), step = cb.step / size
            if tables.needsLuma {
                let light = unsafe UnsafePointer(Place(luma, x: part.x, y: part.y + row).start(in: source, type))
                unsafe tables.balanceChroma(
                    old, to: new, step: step, shift: cb.shift, count: width, luma: light, lumaStep: luma.step / size << facts.chromaShiftX)
            } else {
                unsafe tables.balanceChroma(old, to: new, step: step, shift: cb.shift, count: width)
            }
        }
    }

    /// A sample of a component.
    private struct Place {
        let component: ComponentMap.Component
        let x: Int
        let y: Int

        init(_ component: ComponentMap.Component, x: Int, y: Int) { (self.component, self.x, self.y) = (component, x, y) }

        func start<Value>(in image: ImagePlanes, _ type: Value.Type) -> UnsafeMutablePointer<Value> {
            let row = unsafe image.planes[component.plane] + y * image.pitches[component.plane]
            return unsafe (row + component.offset + x * component.step).assumingMemoryBound(to: type)
        }
    }
}

extension PixelFormat.Description {
    /// Samples of chroma in a row of `width` pixels.
    fileprivate func chroma(_ width: Int) -> Int { (width + (1 << chromaShiftX) - 1) >> chromaShiftX }
}
