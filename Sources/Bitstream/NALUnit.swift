public import Media

/// The two codecs whose streams are made of NAL units.
public enum NALCodec: Sendable, Hashable {
    /// ITU-T H.264.
    case h264
    /// ITU-T H.265.
    case hevc

    /// The codec that a format names; nil for codecs without NAL units.
    public init?(_ codec: VideoCodec) {
        switch codec {
        case .h264: self = .h264
        case .hevc: self = .hevc
        default: return nil
        }
    }

    /// The codec as formats name it.
    public var videoCodec: VideoCodec { self == .h264 ? .h264 : .hevc }

    /// Bytes before a unit's payload.
    var headerBytes: Int { self == .h264 ? 1 : 2 }

    /// `nal_unit_type`.
    func type(of unit: Span<UInt8>) -> UInt8 {
        guard unit.count > 0 else { return 0 }
        return self == .h264 ? unit[0] & 0x1f : unit[0] >> 1 & 0x3f
    }

    func type(of unit: [UInt8]) -> UInt8 { type(of: unit.span) }
}

/// Numbers of `nal_unit_type` (H.264 table 7-1, HEVC table 7-1).
enum H264UnitType {
    static let slice: UInt8 = 1, partitionA: UInt8 = 2, partitionC: UInt8 = 4, idr: UInt8 = 5, sei: UInt8 = 6
    static let sequence: UInt8 = 7, picture: UInt8 = 8, delimiter: UInt8 = 9, prefix: UInt8 = 14, lastReserved: UInt8 = 18
}

enum HEVCUnitType {
    static let firstRandomAccess: UInt8 = 16, lastRandomAccess: UInt8 = 23, lastVideo: UInt8 = 31
    static let video: UInt8 = 32, sequence: UInt8 = 33, picture: UInt8 = 34, delimiter: UInt8 = 35, prefixSEI: UInt8 = 39
}
