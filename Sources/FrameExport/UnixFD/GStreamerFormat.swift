internal import Media

/// GStreamer's name and number of a pixel format (`GstVideoFormat`).
struct GStreamerFormat: Sendable, Hashable {
    var name: String
    var number: Int32

    /// Says that the caps field `drm-format` names the format.
    static let dmaDRM = GStreamerFormat(name: "DMA_DRM", number: 114)

    private static let table: [(PixelFormat, String, Int32)] = [
        (.yuv420p, "I420", 2), (.yuvj420p, "I420", 2), (.yuyv422, "YUY2", 4), (.uyvy422, "UYVY", 5), (.rgb0, "RGBx", 7), (.bgr0, "BGRx", 8),
        (.zrgb, "xRGB", 9), (.zbgr, "xBGR", 10), (.rgba, "RGBA", 11), (.bgra, "BGRA", 12), (.argb, "ARGB", 13), (.abgr, "ABGR", 14),
        (.rgb24, "RGB", 15), (.bgr24, "BGR", 16), (.yuv411p, "Y41B", 17), (.yuvj411p, "Y41B", 17), (.yuv422p, "Y42B", 18),
        (.yuvj422p, "Y42B", 18), (.yuv444p, "Y444", 20), (.yuvj444p, "Y444", 20), (.nv12, "NV12", 23), (.nv21, "NV21", 24), (.gray, "GRAY8", 25),
        (.gray16le, "GRAY16_LE", 27), (.rgb565le, "RGB16", 29), (.rgb555le, "RGB15", 31), (.yuva420p, "A420", 34), (.yuv410p, "YUV9", 36),
        (.yuv420p10le, "I420_10LE", 43), (.yuv422p10le, "I422_10LE", 45), (.yuv444p10le, "Y444_10LE", 47), (.gbrp, "GBR", 48),
        (.gbrp10le, "GBR_10LE", 50), (.nv16, "NV16", 51), (.nv24, "NV24", 52), (.yuva420p10le, "A420_10LE", 55), (.yuva422p10le, "A422_10LE", 57),
        (.yuva444p10le, "A444_10LE", 59), (.p010le, "P010_10LE", 62), (.gbrap, "GBRA", 65), (.gbrap10le, "GBRA_10LE", 67),
        (.gbrp12le, "GBR_12LE", 69), (.gbrap12le, "GBRA_12LE", 71), (.yuv420p12le, "I420_12LE", 73), (.yuv422p12le, "I422_12LE", 75),
        (.yuv444p12le, "Y444_12LE", 77), (.yuv444p16le, "Y444_16LE", 88), (.p016le, "P016_LE", 90),
    ]

    init(name: String, number: Int32) {
        self.name = name
        self.number = number
    }

    /// Nil when GStreamer has none for these bytes.
    init?(_ format: PixelFormat) {
        guard let row = Self.table.first(where: { $0.0 == format }) else { return nil }
        self.init(name: row.1, number: row.2)
    }

    /// The format with this name; full-range variants are told apart by the colours.
    static func pixelFormat(named name: some StringProtocol) -> PixelFormat? { table.first { $0.1 == name }?.0 }

    /// GStreamer orders the planes of its GBR formats as we do.
    static func pixelFormat(_ fourCC: FourCC) -> PixelFormat? { PixelFormat.allCases.first { $0.fourCC == fourCC } }
}

/// GStreamer's way of writing colours: range, matrix, transfer and primaries as its own numbers with colons between.
enum GStreamerColorimetry {
    // The index is GStreamer's number, the value that of ITU-T H.273; 2 is "unspecified".
    private static let matrices: [UInt8] = [2, 0, 4, 1, 6, 7, 9]
    private static let transfers: [UInt8] = [2, 8, 2, 2, 4, 1, 7, 13, 5, 9, 10, 15, 2, 14, 16, 18, 6]
    private static let primaries: [UInt8] = [2, 1, 4, 5, 6, 7, 8, 9, 2, 10, 11, 12, 22]

    static func text(_ color: ColorDescription) -> String? {
        let range = color.range == .full ? 1 : color.range == .limited ? 2 : 0
        // 5 is PAL's name for the matrix that NTSC calls 6.
        let matrix = matrices.firstIndex(of: color.matrix == 5 ? 6 : color.matrix) ?? 0
        let transfer = color.transfer == 2 ? 0 : transfers.firstIndex(of: color.transfer) ?? 0
        let primary = color.primaries == 2 ? 0 : primaries.firstIndex(of: color.primaries) ?? 0
        let numbers = [range, color.matrix == 2 ? 0 : matrix, transfer, primary]
        return numbers.allSatisfy { $0 == 0 } ? nil : numbers.map(String.init).joined(separator: ":")
    }

    private static let names: [String: String] = [
        "bt601": "2:4:5:4", "bt709": "2:3:5:1", "smpte240m": "2:5:6:5", "sRGB": "1:1:7:1", "bt2020": "2:6:11:7", "bt2020-10": "2:6:13:7",
        "bt2100-pq": "2:6:14:7", "bt2100-hlg": "2:6:15:7",
    ]

    static func color(_ text: some StringProtocol) -> ColorDescription {
        let numbers = (names[String(text)] ?? String(text)).split(separator: ":").compactMap { Int($0) }
        guard numbers.count == 4 else { return .unspecified }
        func value(_ table: [UInt8], _ index: Int) -> UInt8 { table.indices.contains(index) ? table[index] : 2 }
        return ColorDescription(
            primaries: value(primaries, numbers[3]), transfer: value(transfers, numbers[2]), matrix: value(matrices, numbers[1]),
            range: numbers[0] == 1 ? .full : numbers[0] == 2 ? .limited : .unspecified)
    }
}
