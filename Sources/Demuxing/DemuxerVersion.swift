internal import CAVFormat

/// The version of the demuxing library.
public enum DemuxerVersion {
    /// The version of the libavformat that is loaded, as `59.27.100`.
    ///
    /// The corresponding C function is `avformat_version`.
    public static var text: String {
        let version = avformat_version()
        return "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)"
    }
}
