package import Media

/// What a camera's format code stands for.
///
/// The codes are V4L2's (`V4L2_PIX_FMT_…` of `linux/videodev2.h`), which are not those of displays: `RGB3` is called `BG24` there.
package enum CaptureEncoding: Sendable, Hashable {
    /// Pixels. The planes are one behind the other in one piece of memory, or with codes such as `NM12` each in a piece of its own.
    case pixels(PixelFormat)
    /// Bytes for a decoder.
    case compressed(VideoCodec)
    /// Anything else: Bayer patterns, vendors' formats.
    case unknown

    var isPixels: Bool { if case .pixels = self { true } else { false } }

    /// Looks a code up.
    package init(_ code: FourCC) {
        if let format = Self.table[code.description] {
            self = .pixels(format)
        } else if let codec = Self.codecs[code.description] {
            self = .compressed(codec)
        } else {
            self = .unknown
        }
    }

    /// The camera's code for pixels; nil for a layout that V4L2 has no single code for.
    package static func code(for format: PixelFormat) -> FourCC? {
        guard let name = Self.table.filter({ $0.value == format }).keys.min(by: { rank($0) < rank($1) }) else { return nil }
        return FourCC(rawValue: name.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) })
    }

    /// Codes that the kernel calls deprecated, and those of planes in pieces, come last.
    private static func rank(_ name: String) -> String {
        (["BGR4", "RGB4", "RGBO", "NM12", "NM21", "NM16", "YM12", "YM16"].contains(name) ? "1" : "0") + name
    }

    /// The kernel's names of channels of 32 bits run from the highest byte to the lowest in some codes and the other way in others; the comments of
    /// `videodev2.h` count.
    private static let table: [String: PixelFormat] = [
        "YU12": .yuv420p, "422P": .yuv422p, "YUV9": .yuv410p, "411P": .yuv411p,
        "NV12": .nv12, "NV21": .nv21, "NV16": .nv16, "NV24": .nv24, "P010": .p010le,
        "NM12": .nv12, "NM21": .nv21, "NM16": .nv16, "YM12": .yuv420p, "YM16": .yuv422p,
        "YUYV": .yuyv422, "UYVY": .uyvy422,
        "GREY": .gray, "Y10 ": .gray10le, "Y12 ": .gray12le, "Y16 ": .gray16le,
        "RGB3": .rgb24, "BGR3": .bgr24,
        "XR24": .bgr0, "AR24": .bgra, "BX24": .zrgb, "BA24": .argb, "RX24": .zbgr, "RA24": .abgr, "XB24": .rgb0, "AB24": .rgba,
        "BGR4": .bgr0, "RGB4": .zrgb, "RGBP": .rgb565le, "XR15": .rgb555le, "RGBO": .rgb555le,
    ]

    private static let codecs: [String: VideoCodec] = ["MJPG": .mjpeg, "JPEG": .mjpeg, "H264": .h264, "HEVC": .hevc]
}

extension VideoCodec {
    /// Single frames in JPEG.
    static let mjpeg = VideoCodec(name: "mjpeg")
}
