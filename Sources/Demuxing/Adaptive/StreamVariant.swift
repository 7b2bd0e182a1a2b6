public import Media

/// One of the qualities in which an HLS list (RFC 8216, 4.3.4.2) or a DASH manifest offers its film, as far as that says.
public struct StreamVariant: Sendable, Hashable {
    /// The highest bit rate of any of its parts, in bits a second.
    public var bitRate: Int64
    /// The size of the frames; nil when unknown, or for sound alone.
    public var size: PixelSize?
    /// Frames a second; nil when unknown.
    public var frameRate: Double?
    /// The codecs' names as in MP4 (RFC 6381): `avc1.640028`, `mp4a.40.2`. Empty when unknown.
    public var codecs: [String]

    package init(bitRate: Int64, size: PixelSize? = nil, frameRate: Double? = nil, codecs: [String] = []) {
        self.bitRate = bitRate
        self.size = size
        self.frameRate = frameRate
        self.codecs = codecs
    }
}

/// The qualities that a film is offered in, and the one that is read.
public struct VariantOffer: Sendable, Hashable {
    /// In the order of the list.
    public var variants: [StreamVariant]
    /// The index of the variant that is read.
    public var chosen: Int
}

/// Which variant of a film is to be read, where there are several.
public enum VariantPreference: Sendable, Hashable {
    /// By what can be decoded, by the size that it is shown in, and by how fast the network is.
    case automatic
    /// The one with the highest bit rate, or the lowest.
    case highest, lowest
    /// The one with the highest bit rate up to this, in bits a second; the lowest where all are above it.
    case atMost(Int64)
}
