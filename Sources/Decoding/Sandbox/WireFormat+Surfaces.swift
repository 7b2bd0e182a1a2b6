internal import Media
internal import Sandbox
internal import SurfacePool

// How surfaces' layouts and decoding errors are written in messages.

extension WireWriter {
    mutating func put(_ layout: SurfaceLayout) {
        put(layout.format.rawValue)
        put(layout.size)
        put(UInt64(layout.byteCount))
        put(UInt8(layout.planeCount))
        for index in 0..<layout.planeCount {
            put(UInt64(layout.plane(index).offset))
            put(UInt32(clamping: layout.plane(index).pitch))
        }
    }

    mutating func put(_ error: DecodingError) {
        put(error.code.wireNumber)
        put(error.status)
        put(error.description)
    }
}

extension WireReader {
    /// A linear layout in which every row of every plane lies inside the memory.
    mutating func takeLayout() throws(WireError) -> SurfaceLayout {
        let name = try takeText()
        guard let format = PixelFormat(rawValue: name) else { throw WireError("\(name) is no pixel format") }
        let size = try takeSize()
        let byteCount = Int(clamping: try take(UInt64.self)), planeCount = Int(try take(UInt8.self))
        let facts = format.description.planes
        let palettes = format == .pal8 ? 1 : 0
        guard size.width > 0, size.height > 0, (1...Self.largestSurface).contains(byteCount), planeCount == facts.count + palettes else {
            throw WireError("a layout has no room for \(name) of \(size)")
        }
        var planes: [SurfaceLayout.Plane] = []
        for index in 0..<planeCount {
            let offset = Int(clamping: try take(UInt64.self)), pitch = Int(try take(UInt32.self))
            let row = index < facts.count ? facts[index].rowBytes(width: size.width) : SurfaceLayout.paletteByteCount
            let rows = index < facts.count ? facts[index].rows(height: size.height) : 1
            guard pitch >= row, pitch <= 1 << 30, offset <= byteCount, pitch * rows <= byteCount - offset, offset < byteCount else {
                throw WireError("plane \(index) of \(name) of \(size) lies outside its memory")
            }
            planes.append(.init(offset: offset, pitch: pitch))
        }
        return SurfaceLayout(format: format, size: size, modifier: .linear, planes: planes, byteCount: byteCount)
    }

    /// 2 GB less a page: displays and libraries count the bytes of a frame in 32 bits.
    private static var largestSurface: Int { 1 << 31 - 4096 }

    mutating func takeError() throws(WireError) -> DecodingError {
        guard let code = DecodingError.Code(wireNumber: try take()) else { throw WireError("no such error") }
        let status = try take(Int32.self)
        return DecodingError(code, try takeText(), status: status)
    }
}

extension DecodingError.Code {
    /// The errors that a decoder process may report.
    private static let inWireOrder: [DecodingError.Code] = [
        .noDecoder, .cannotOpen, .invalidData, .unsupportedPixelFormat, .outOfSurfaces, .invalidated, .decoder, .noHardware, .outOfResources,
    ]

    var wireNumber: UInt8 { UInt8((Self.inWireOrder.firstIndex(of: self) ?? Self.inWireOrder.firstIndex(of: .decoder))!) }

    init?(wireNumber: UInt8) {
        guard wireNumber < Self.inWireOrder.count else { return nil }
        self = Self.inWireOrder[Int(wireNumber)]
    }
}
