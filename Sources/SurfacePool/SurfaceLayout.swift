public import Media

/// Where every plane of a frame lies inside one piece of memory.
///
/// All planes share one file descriptor; `plane(_:)` says at which offset and with how many bytes a row. In the
/// linear layouts made here plane *n+1* begins exactly `pitch × rows` after plane *n* and chroma pitches are luma's divided
/// by the subsampling, which is what `wl_shm` assumes of planar formats; rows below the frame keep a decoder's
/// overhanging reads and writes away from the next plane.
///
/// Thread-safety: a value.
public struct SurfaceLayout: Sendable, Hashable {
    /// A plane's place in the memory, in bytes.
    public struct Plane: Sendable, Hashable {
        /// From the start of the memory to the plane's first row.
        public var offset: Int
        /// From one row to the next.
        public var pitch: Int

        /// Makes the place of a plane; both numbers are in bytes.
        public init(offset: Int, pitch: Int) {
            self.offset = offset
            self.pitch = pitch
        }
    }

    /// How the pixels are stored in the planes.
    public let format: PixelFormat
    /// Pixels that have memory. At least the coded frame; what is meant to be seen is `VideoFrame.visible`.
    public let size: PixelSize
    /// How the device arranges the bytes: `.linear`, or a tiling or compression of the vendor's (`drm_fourcc.h`).
    public let modifier: FormatModifier
    /// Planes with memory of their own: those of `format`, plus one for the 256 colours of `pal8`.
    public let planeCount: Int
    /// Size of the whole memory, in bytes.
    public let byteCount: Int
    private let first, second, third, fourth: Plane

    /// A layout that somebody else decided on. At most four planes, each inside `byteCount`.
    public init(format: PixelFormat, size: PixelSize, modifier: FormatModifier, planes: [Plane], byteCount: Int) {
        precondition((1...4).contains(planes.count) && size.width > 0 && size.height > 0)
        precondition(planes.allSatisfy { $0.offset >= 0 && $0.pitch > 0 && $0.offset < byteCount })
        self.format = format
        self.size = size
        self.modifier = modifier
        self.byteCount = byteCount
        planeCount = planes.count
        func plane(_ index: Int) -> Plane { index < planes.count ? planes[index] : Plane(offset: 0, pitch: 0) }
        first = plane(0)
        second = plane(1)
        third = plane(2)
        fourth = plane(3)
    }

    /// A layout that somebody else decided on and whose numbers are not trusted: a peer's, a driver's, a caller's.
    ///
    /// Each plane of a linear layout must lie in the memory to its last row. Only the device knows how it lays out other modifiers; there
    /// each plane must begin in the memory.
    /// - Throws: `.layout` with the first rule that the numbers break.
    public init(
        checking format: PixelFormat, size: PixelSize, modifier: FormatModifier, planes: [Plane], byteCount: Int
    ) throws(SurfaceError) {
        func check(_ isRight: Bool, _ sentence: @autoclosure () -> String) throws(SurfaceError) {
            if !isRight { throw SurfaceError(.layout, sentence()) }
        }
        let facts = format.description.planes
        let expected = Self.planeCount(of: format)
        try check((1...Self.longestSide).contains(size.width) && (1...Self.longestSide).contains(size.height), "No frame has this size.")
        try check(byteCount > 0, "The memory is empty.")
        try check((1...4).contains(planes.count), "A frame has one to four planes.")
        try check(modifier != .linear || planes.count == expected, "\(format.rawValue) has \(expected) planes.")
        for (index, plane) in planes.enumerated() {
            let isInside = plane.pitch > 0 && plane.pitch <= Int32.max && plane.offset >= 0 && plane.offset < byteCount
            try check(isInside, "Plane \(index) begins outside the memory.")
            guard modifier == .linear else { continue }
            let row = index < facts.count ? facts[index].rowBytes(width: size.width) : Self.paletteByteCount
            let rows = index < facts.count ? facts[index].rows(height: size.height) : 1
            try check(plane.pitch >= row, "A row of plane \(index) is longer than its pitch.")
            try check((rows - 1) * plane.pitch + row <= byteCount - plane.offset, "Plane \(index) reaches beyond the memory.")
        }
        self.init(format: format, size: size, modifier: modifier, planes: planes, byteCount: byteCount)
    }

    /// 2²⁰ pixels: no product of a side and a pitch overflows.
    private static let longestSide = 1 << 20

    /// A linear layout with room for `coded` and for what decoders do around its edges.
    ///
    /// - Parameters:
    ///   - coded: Coded size in pixels, each side at least 1.
    ///   - pitchAlignment: Every pitch becomes a multiple of this power of two. 64 bytes serve the widest vector
    ///     instructions (libavcodec's `STRIDE_ALIGN`) and the importers of DMA-BUFs known to be picky.
    public init(format: PixelFormat, covering coded: PixelSize, pitchAlignment: Int = 64) {
        precondition(coded.width > 0 && coded.height > 0 && pitchAlignment > 0 && pitchAlignment & (pitchAlignment - 1) == 0)
        let facts = format.description
        // The width grows until every pitch is aligned, so that pitches keep the ratio of the subsampling.
        var width = coded.width
        while facts.planes.contains(where: { $0.rowBytes(width: width) % pitchAlignment != 0 }) { width += width & -width }
        // 2 (4 where chroma is a quarter) rows under each plane: at least 64 bytes, where libavcodec asks for 16.
        let unit = 1 << (facts.planes.map(\.verticalShift).max() ?? 0)
        let height = (coded.height + unit - 1) / unit * unit + max(2, unit)

        var planes: [Plane] = []
        var end = 0
        for plane in facts.planes {
            let pitch = plane.rowBytes(width: width)
            planes.append(Plane(offset: end, pitch: pitch))
            end += pitch * plane.rows(height: height)
        }
        if format == .pal8 {
            planes.append(Plane(offset: end, pitch: Self.paletteByteCount))
            end += Self.paletteByteCount
        }
        self.init(
            format: format, size: PixelSize(width: width, height: height), modifier: .linear, planes: planes,
            byteCount: (end + Self.pageSize - 1) / Self.pageSize * Self.pageSize)
    }

    /// The layout of the bytes that `Surface.withUnsafeBytes` lends where it copies the frame: the same planes, one row after the other, without
    /// those that a tiling or compression adds.
    package var linear: SurfaceLayout {
        guard modifier != .linear else { return self }
        let count = min(planeCount, Self.planeCount(of: format))
        return SurfaceLayout(
            format: format, size: size, modifier: .linear, planes: (0..<count).map(plane), byteCount: byteCount)
    }

    /// The planes of a linear frame; that of the 256 colours counts.
    private static func planeCount(of format: PixelFormat) -> Int { format == .pal8 ? 2 : format.description.planes.count }

    /// 256 colours of 32 bits.
    public static let paletteByteCount = 1024
    /// Memory comes in pages of this size; udmabuf takes nothing else.
    static let pageSize = 4096

    /// The plane `index`, which must be below `planeCount`.
    public func plane(_ index: Int) -> Plane {
        precondition(index >= 0 && index < planeCount, "no such plane")
        switch index {
        case 0: return first
        case 1: return second
        case 2: return third
        default: return fourth
        }
    }
}
