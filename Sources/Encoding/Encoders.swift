internal import CAV
public import Media
internal import PixelConversion

/// The video encoders of the installed libavcodec.
public enum Encoders {
    /// libavcodec's names of the software encoders for `codec`, the preferred one first.
    public static func names(for codec: VideoCodec) -> [String] {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(codec.name) else { return [] }
        var found: [String] = []
        var state: UnsafeMutableRawPointer?
        while let encoder = unsafe av_codec_iterate(&state) {
            guard unsafe encoder.pointee.id == descriptor.pointee.id, unsafe av_codec_is_encoder(encoder) != 0 else { continue }
            let name = unsafe String(cString: encoder.pointee.name)
            if unsafe encoder.pointee.type == AVMEDIA_TYPE_VIDEO, !isDevice(name) { found.append(name) }
        }
        let known = preferred.filter(found.contains)
        return known + found.filter { !known.contains($0) }
    }

    /// libavcodec's names of the encoders for `codec` that drive a device by VA-API. Whether there is such a device shows when one is opened.
    public static func deviceNames(for codec: VideoCodec) -> [String] {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(codec.name) else { return [] }
        var found: [String] = [], state: UnsafeMutableRawPointer?
        while let encoder = unsafe av_codec_iterate(&state) {
            guard unsafe encoder.pointee.id == descriptor.pointee.id, unsafe av_codec_is_encoder(encoder) != 0 else { continue }
            let name = unsafe String(cString: encoder.pointee.name)
            if name.hasSuffix("_vaapi") { found.append(name) }
        }
        return found
    }

    /// The codecs that people name most, of those that can be encoded.
    public static var usualCodecs: [VideoCodec] {
        ["h264", "hevc", "av1", "vp9", "vp8", "prores", "ffv1", "mjpeg", "mpeg2video", "mpeg4"].map(VideoCodec.init(name:))
            .filter { !names(for: $0).isEmpty }
    }

    /// In order of preference for one codec.
    private static let preferred = [
        "libx264", "libopenh264", "libx265", "libsvtav1", "libaom-av1", "librav1e", "libvpx-vp9", "prores_ks", "mjpeg", "ffv1",
    ]

    /// Encoders of devices, by how libavcodec names them.
    private static func isDevice(_ name: String) -> Bool {
        ["_vaapi", "_nvenc", "_qsv", "_v4l2m2m", "_omx", "_amf", "_vulkan", "_mf", "_mediacodec", "_rkmpp", "_videotoolbox"]
            .contains { name.hasSuffix($0) } || name.hasPrefix("nvenc")
    }

    /// What there is beside a device, as the end of a sentence.
    static func list(for codec: VideoCodec) -> String {
        let names = names(for: codec)
        return names.isEmpty ? "this FFmpeg has no software encoder for it" : "software encoders are \(names.joined(separator: ", "))"
    }

    /// An encoder in software.
    /// - Throws: `.noEncoder` with a sentence that lists what there is.
    static func find(_ codec: VideoCodec, _ specification: EncoderSpecification) throws(EncodingError) -> UnsafePointer<AVCodec> {
        let names = names(for: codec), list = list(for: codec)
        guard let name = specification.name ?? names.first else {
            let codecs = usualCodecs.map(\.name).joined(separator: ", ")
            throw EncodingError(.noEncoder, "this FFmpeg has no software encoder for \(codec.name); it encodes \(codecs)")
        }
        guard names.contains(name), let encoder = unsafe avcodec_find_encoder_by_name(name) else {
            throw EncodingError(.noEncoder, "this FFmpeg has no software encoder \(name) for \(codec.name); \(list)")
        }
        return unsafe encoder
    }

    /// The pixel formats that an encoder takes, of those that have a name here.
    ///
    /// - Parameter profile: ProRes' profiles differ in their chroma.
    static func pixelFormats(of encoder: UnsafePointer<AVCodec>, profile: String?) -> Set<PixelFormat> {
        let table = PixelFormatTable.shared, isProRes = unsafe encoder.pointee.id == AV_CODEC_ID_PRORES
        return Set(
            PixelFormat.allCases.filter { format in
                let number = table.number(of: format)
                guard number >= 0, unsafe cav_encoder_takes(encoder, AVPixelFormat(number)) != 0 else { return false }
                if isProRes, let profile { return (format.description.chromaShiftX == 0) == profile.hasPrefix("4444") }
                return true
            })
    }
}
