/// How a decoded frame lies in memory: which components, in which planes, with how many bits.
///
/// The raw value is FFmpeg's name of the same layout, which is also what statistics and `framemd5` print. 16-bit
/// containers are little-endian.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
    case yuv420p, yuv422p, yuv444p, yuv440p, yuv410p, yuv411p
    /// As the formats without the j, with full range implied.
    case yuvj420p, yuvj422p, yuvj444p, yuvj440p, yuvj411p
    case yuv420p9le, yuv422p9le, yuv444p9le
    case yuv420p10le, yuv422p10le, yuv444p10le, yuv440p10le
    case yuv420p12le, yuv422p12le, yuv444p12le, yuv440p12le
    case yuv420p14le, yuv422p14le, yuv444p14le
    case yuv420p16le, yuv422p16le, yuv444p16le
    case yuva420p, yuva422p, yuva444p
    case yuva420p9le, yuva422p9le, yuva444p9le
    case yuva420p10le, yuva422p10le, yuva444p10le
    case yuva422p12le, yuva444p12le
    case yuva420p16le, yuva422p16le, yuva444p16le
    case gbrp, gbrp9le, gbrp10le, gbrp12le, gbrp14le, gbrp16le, gbrap, gbrap10le, gbrap12le, gbrap16le
    case gray, gray9le, gray10le, gray12le, gray14le, gray16le, ya8, ya16le
    case nv12, nv21, nv16, nv24, p010le, p016le
    case yuyv422, uyvy422
    case rgb24, bgr24, argb, rgba, abgr, bgra, rgb0, bgr0, zrgb = "0rgb", zbgr = "0bgr"
    case rgb48le, rgba64le, bgr48le, rgb565le, rgb555le, pal8, monowhite = "monow", monoblack = "monob"

    /// One plane's share of the frame.
    public struct Plane: Sendable, Hashable {
        /// Bits from one sample position to the next (1 for monochrome bitmaps, 8 for a byte plane, 16 for NV12's chroma pair…).
        public var bitsPerSample: Int
        /// The plane has `ceil(width / 2^horizontalShift)` sample positions a row.
        public var horizontalShift: Int
        /// The plane has `ceil(height / 2^verticalShift)` rows.
        public var verticalShift: Int

        /// Bytes in a row of a frame `width` pixels wide, without padding.
        public func rowBytes(width: Int) -> Int {
            let samples = (width + (1 << horizontalShift) - 1) >> horizontalShift
            return (samples * bitsPerSample + 7) >> 3
        }

        /// Rows of a frame `height` pixels high.
        public func rows(height: Int) -> Int { (height + (1 << verticalShift) - 1) >> verticalShift }
    }

    /// What the components of a pixel are: luma and chroma, red, green and blue, luma alone, or an index into a palette.
    public enum Model: Sendable, Hashable { case yuv, rgb, gray, palette }

    /// The properties of a format.
    public struct Description: Sendable, Hashable {
        /// The planes in the order in which a frame holds them.
        public var planes: [Plane]
        /// What the components of a pixel are.
        public var model: Model
        /// Significant bits of one component.
        public var bitDepth: Int
        /// Whether pixels have an alpha component. True for `pal8`, whose palette has one.
        public var hasAlpha: Bool
        /// log2 of how much coarser chroma is than luma in a row: 1 means half as many samples.
        public var chromaShiftX: Int
        /// The same in a column: 1 means half as many rows.
        public var chromaShiftY: Int
        /// Full range follows from the format itself.
        public var impliesFullRange: Bool
    }

    /// The properties of this format, from a table that is made once.
    public var description: Description { Self.table[self]! }
    /// The number of planes, 1 to 4.
    public var planeCount: Int { description.planes.count }

    /// Bytes in all planes without padding: what a frame checksum covers. A palette counts as 1024.
    public func byteCount(width: Int, height: Int) -> Int {
        let planes = description.planes.reduce(0) { $0 + $1.rowBytes(width: width) * $1.rows(height: height) }
        return self == .pal8 ? planes + 1024 : planes
    }

    private static let table: [PixelFormat: Description] = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.derived()) })

    /// Planar formats follow from their names; the packed ones are listed.
    private func derived() -> Description {
        func plane(_ bits: Int, _ x: Int = 0, _ y: Int = 0) -> Plane { Plane(bitsPerSample: bits, horizontalShift: x, verticalShift: y) }
        func packed(_ bits: Int, _ model: Model, depth: Int = 8, alpha: Bool = false) -> Description {
            Description(
                planes: [plane(bits)], model: model, bitDepth: depth, hasAlpha: alpha, chromaShiftX: 0, chromaShiftY: 0,
                impliesFullRange: model != .yuv)
        }
        func biplanar(_ bits: Int, _ x: Int, _ y: Int, depth: Int) -> Description {
            Description(
                planes: [plane(bits), plane(2 * bits, x, y)], model: .yuv, bitDepth: depth, hasAlpha: false, chromaShiftX: x, chromaShiftY: y,
                impliesFullRange: false)
        }
        switch self {
        case .nv12, .nv21: return biplanar(8, 1, 1, depth: 8)
        case .nv16: return biplanar(8, 1, 0, depth: 8)
        case .nv24: return biplanar(8, 0, 0, depth: 8)
        case .p010le: return biplanar(16, 1, 1, depth: 10)
        case .p016le: return biplanar(16, 1, 1, depth: 16)
        case .yuyv422, .uyvy422:
            // Two pixels share their chroma and cannot be separated: a sample position is the pair.
            return Description(
                planes: [plane(32, 1)], model: .yuv, bitDepth: 8, hasAlpha: false, chromaShiftX: 1, chromaShiftY: 0, impliesFullRange: false)
        case .rgb24, .bgr24: return packed(24, .rgb)
        case .argb, .rgba, .abgr, .bgra: return packed(32, .rgb, alpha: true)
        case .rgb0, .bgr0, .zrgb, .zbgr: return packed(32, .rgb)
        case .rgb48le, .bgr48le: return packed(48, .rgb, depth: 16)
        case .rgba64le: return packed(64, .rgb, depth: 16, alpha: true)
        case .rgb565le: return packed(16, .rgb, depth: 6)
        case .rgb555le: return packed(16, .rgb, depth: 5)
        case .pal8: return packed(8, .palette, alpha: true)
        case .monowhite, .monoblack: return packed(1, .gray, depth: 1)
        case .ya8: return packed(16, .gray, alpha: true)
        case .ya16le: return packed(32, .gray, depth: 16, alpha: true)
        default: break
        }
        let name = rawValue
        let digits = name.hasSuffix("le") ? name.dropLast(2).reversed().prefix { $0.isNumber } : []
        let depth = Int(String(digits.reversed())) ?? 8
        let bits = depth > 8 ? 16 : 8
        if name.hasPrefix("gray") {
            return packed(bits, .gray, depth: depth)
        }
        if name.hasPrefix("gb") {
            let alpha = name.hasPrefix("gbrap")
            return Description(
                planes: Array(repeating: plane(bits), count: alpha ? 4 : 3), model: .rgb, bitDepth: depth, hasAlpha: alpha,
                chromaShiftX: 0, chromaShiftY: 0, impliesFullRange: true)
        }
        let alpha = name.hasPrefix("yuva"), full = name.hasPrefix("yuvj")
        let (x, y): (Int, Int) =
            switch name.dropFirst(alpha || full ? 4 : 3).prefix(3) {
            case "420": (1, 1)
            case "422": (1, 0)
            case "440": (0, 1)
            case "411": (2, 0)
            case "410": (2, 2)
            default: (0, 0)
            }
        let planes = [plane(bits), plane(bits, x, y), plane(bits, x, y)] + (alpha ? [plane(bits)] : [])
        return Description(
            planes: planes, model: .yuv, bitDepth: depth, hasAlpha: alpha, chromaShiftX: x, chromaShiftY: y, impliesFullRange: full)
    }
}

/// A format code of the kernel's `drm_fourcc.h`: four characters, first in the lowest byte.
public struct FourCC: Sendable, Hashable, CustomStringConvertible {
    /// The code as the kernel and Wayland pass it.
    public let rawValue: UInt32
    /// Takes any code, known here or not.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The code that four ASCII characters spell.
    public init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4)
        rawValue = (0..<4).reduce(0) { unsafe $0 | UInt32(text.utf8Start[$1]) << (8 * UInt32($1)) }
    }
    /// The four characters, such as `NV12`.
    public var description: String {
        String(String.UnicodeScalarView((0..<4).map { Unicode.Scalar(UInt8(truncatingIfNeeded: rawValue >> (8 * UInt32($0)))) }))
    }
}

/// How the bytes of a plane are arranged (`DRM_FORMAT_MOD_*`). Memory that a CPU decoder writes is always linear.
public struct FormatModifier: Sendable, Hashable, CustomStringConvertible {
    /// The modifier as the kernel and Wayland pass it.
    public let rawValue: UInt64
    /// Takes any modifier, known here or not.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Rows of pixels one after the other (`DRM_FORMAT_MOD_LINEAR`).
    public static let linear = FormatModifier(rawValue: 0)
    /// The driver chooses (`DRM_FORMAT_MOD_INVALID`): refused unless asked for.
    public static let invalid = FormatModifier(rawValue: 0x00ff_ffff_ffff_ffff)
    /// `linear`, `invalid`, or the number in hexadecimal.
    public var description: String {
        self == .linear ? "linear" : self == .invalid ? "invalid" : "0x" + String(rawValue, radix: 16)
    }
}

extension PixelFormat {
    /// The kernel's code for the same bytes; nil where it has none. The three-plane codes of more than 8 bits (`S010`…)
    /// are recent and offered by few.
    public var fourCC: FourCC? {
        switch self {
        case .yuv420p, .yuvj420p: FourCC("YU12")
        case .yuv422p, .yuvj422p: FourCC("YU16")
        case .yuv444p, .yuvj444p: FourCC("YU24")
        case .yuv410p: FourCC("YUV9")
        case .yuv411p, .yuvj411p: FourCC("YU11")
        case .yuv420p10le: FourCC("S010")
        case .yuv422p10le: FourCC("S210")
        case .yuv444p10le: FourCC("S410")
        case .yuv420p12le: FourCC("S012")
        case .yuv422p12le: FourCC("S212")
        case .yuv444p12le: FourCC("S412")
        case .yuv420p16le: FourCC("S016")
        case .yuv422p16le: FourCC("S216")
        case .yuv444p16le: FourCC("S416")
        case .nv12: FourCC("NV12")
        case .nv21: FourCC("NV21")
        case .nv16: FourCC("NV16")
        case .nv24: FourCC("NV24")
        case .p010le: FourCC("P010")
        case .p016le: FourCC("P016")
        case .yuyv422: FourCC("YUYV")
        case .uyvy422: FourCC("UYVY")
        case .gray: FourCC("R8  ")
        case .rgb24: FourCC("BG24")
        case .bgr24: FourCC("RG24")
        case .bgra: FourCC("AR24")
        case .bgr0: FourCC("XR24")
        case .rgba: FourCC("AB24")
        case .rgb0: FourCC("XB24")
        case .argb: FourCC("BA24")
        case .zrgb: FourCC("BX24")
        case .abgr: FourCC("RA24")
        case .zbgr: FourCC("RX24")
        case .rgb565le: FourCC("RG16")
        case .rgb555le: FourCC("XR15")
        default: nil
        }
    }
}
