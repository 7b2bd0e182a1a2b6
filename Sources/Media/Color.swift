/// How code values turn into light: the primaries, transfer curve, matrix and range of a frame.
///
/// The raw values are those of ITU-T H.273 (ISO/IEC 23091-2), which H.264, HEVC, VP9, AV1, MP4's `nclx` and FFmpeg share.
/// 2 means "not said"; see `resolved(width:height:)` for what to assume then.
public struct ColorDescription: Sendable, Hashable {
    /// `ColourPrimaries` of H.273: 1 is BT.709, 9 is BT.2020, 2 is not said.
    public var primaries: UInt8
    /// `TransferCharacteristics` of H.273: 1 is BT.709, 16 is PQ, 18 is HLG, 2 is not said.
    public var transfer: UInt8
    /// `MatrixCoefficients` of H.273: 0 is RGB, 1 is BT.709, 9 is BT.2020, 2 is not said.
    public var matrix: UInt8
    /// Which code values black and white have.
    public var range: ColorRange
    /// Where chroma samples sit relative to luma.
    public var chromaSiting: ChromaSiting

    /// Takes the numbers of H.273; by default nothing is said.
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

    /// A description that says nothing.
    public static let unspecified = ColorDescription()
    /// High-definition video as broadcast (ITU-R BT.709): limited range, chroma sited left.
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

    /// The description with every gap filled by convention: BT.709 above 576 lines or from 1280 columns up, BT.601 below; limited range;
    /// chroma sited left. BT.2020 primaries imply the BT.2020 matrix, and the other way round.
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

    /// The description without gaps: what the frame does not say follows from its format, or by convention from its size.
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
    /// In the order of `AVChromaLocation`; `unspecified` when the stream does not say.
    case unspecified = 0, left, center, topLeft, top, bottomLeft, bottom
}

/// HDR10's description of the display that the film was graded on (SMPTE ST 2086) and of its brightest light (CTA-861.3).
public struct HDRStaticMetadata: Sendable, Hashable {
    /// CIE 1931 chromaticity in units of 0.00002, as in HEVC's SEI.
    public struct Chromaticity: Sendable, Hashable {
        /// The x coordinate, in units of 0.00002.
        public var x: UInt16
        /// The y coordinate, in units of 0.00002.
        public var y: UInt16
        /// Takes coordinates in units of 0.00002.
        public init(x: UInt16, y: UInt16) { self.x = x; self.y = y }
    }
    /// The display's primaries and its white point.
    public var red, green, blue, white: Chromaticity
    /// The display's brightest white and darkest black, in units of 0.0001 cd/m².
    public var maximumLuminance, minimumLuminance: UInt32
    /// The film's brightest pixel (MaxCLL) and brightest frame on average (MaxFALL), in cd/m²; 0 is unknown.
    public var maximumContentLightLevel, maximumFrameAverageLightLevel: UInt16

    /// Takes values in the units of the properties; a content light level of 0 is unknown.
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
