/// How code values turn into light: the primaries, transfer curve, matrix and range of a frame.
///
/// The raw values are those of ITU-T H.273 (ISO/IEC 23091-2), which H.264, HEVC, VP9, AV1, MP4's `nclx` and FFmpeg share.
/// 2 means "not said"; see `resolved(width:height:)` for what to assume then.
public struct ColorDescription: Sendable, Hashable {
    public var primaries: UInt8
    public var transfer: UInt8
    public var matrix: UInt8
    public var range: ColorRange
    public var chromaSiting: ChromaSiting

    public init(
        primaries: UInt8 = 2, transfer: UInt8 = 2, matrix: UInt8 = 2,
        range: ColorRange = .unspecified, chromaSiting: ChromaSiting = .unspecified
    ) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.range = range
        self.chromaSiting = chromaSiting
    }

    public static let unspecified = ColorDescription()
    public static let bt709 = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited, chromaSiting: .left)

    /// The description with its gaps filled from another.
    public func completed(by other: ColorDescription) -> ColorDescription {
        var full = self
        if matrix == 2 { full.matrix = other.matrix }
        if primaries == 2 { full.primaries = other.primaries }
        if transfer == 2 { full.transfer = other.transfer }
        if range == .unspecified { full.range = other.range }
        if chromaSiting == .unspecified { full.chromaSiting = other.chromaSiting }
        return full
    }

    /// The description with every gap filled by convention: BT.709 from 720 lines or 1280 columns up, BT.601 below;
    /// limited range; chroma sited left.
    public func resolved(width: Int, height: Int) -> ColorDescription {
        let high = width >= 1280 || height > 576
        var full = self
        if matrix == 2 { full.matrix = primaries == 9 ? 9 : (high ? 1 : (height == 576 ? 5 : 6)) }
        if primaries == 2 { full.primaries = full.matrix == 9 ? 9 : (high ? 1 : (height == 576 ? 5 : 6)) }
        if transfer == 2 { full.transfer = high ? 1 : 6 }
        if range == .unspecified { full.range = .limited }
        if chromaSiting == .unspecified { full.chromaSiting = .left }
        return full
    }

    /// The same without gaps: what the frame does not say follows from its format, or by convention from its size.
    package func resolved(for format: PixelFormat, size: PixelSize) -> ColorDescription {
        var color = self
        let facts = format.description
        if facts.impliesFullRange, facts.model == .yuv || color.range == .unspecified { color.range = .full }
        return color.resolved(width: size.width, height: size.height)
    }
}

/// Which code values black and white have.
public enum ColorRange: UInt8, Sendable, Hashable {
    /// Not said by the stream.
    case unspecified = 0
    /// 16–235 of 8 bit ("TV", "MPEG").
    case limited = 1
    /// 0–255 of 8 bit ("PC", "JPEG").
    case full = 2
}

/// Where chroma samples sit relative to luma; values of FFmpeg's `AVChromaLocation`, one above H.264's `chroma_sample_loc_type`.
public enum ChromaSiting: UInt8, Sendable, Hashable {
    case unspecified = 0, left, center, topLeft, top, bottomLeft, bottom
}

/// HDR10's description of the display that the film was graded on (SMPTE ST 2086) and of its brightest light (CTA-861.3).
public struct HDRStaticMetadata: Sendable, Hashable {
    /// CIE 1931 chromaticity in units of 0.00002, as in HEVC's SEI.
    public struct Chromaticity: Sendable, Hashable {
        public var x: UInt16
        public var y: UInt16
        public init(x: UInt16, y: UInt16) { self.x = x; self.y = y }
    }
    public var red, green, blue, white: Chromaticity
    /// Units of 0.0001 cd/m².
    public var maximumLuminance, minimumLuminance: UInt32
    /// cd/m²; 0 is unknown.
    public var maximumContentLightLevel, maximumFrameAverageLightLevel: UInt16

    public init(
        red: Chromaticity, green: Chromaticity, blue: Chromaticity, white: Chromaticity,
        maximumLuminance: UInt32, minimumLuminance: UInt32,
        maximumContentLightLevel: UInt16 = 0, maximumFrameAverageLightLevel: UInt16 = 0
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
        self.maximumLuminance = maximumLuminance
        self.minimumLuminance = minimumLuminance
        self.maximumContentLightLevel = maximumContentLightLevel
        self.maximumFrameAverageLightLevel = maximumFrameAverageLightLevel
    }
}
