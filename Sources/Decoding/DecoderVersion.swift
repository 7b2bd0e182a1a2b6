internal import CAV

/// The version of libavcodec.
public enum DecoderVersion {
    /// The version of the library that is loaded, as `59.37.100`.
    public static var text: String {
        let version = avcodec_version()
        return "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)"
    }
}
