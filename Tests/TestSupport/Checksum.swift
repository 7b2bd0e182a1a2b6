internal import CAV

/// The checksums in which others publish what a decoder must put out, computed by libavutil. Results are lower-case hexadecimal.
public enum Checksum {
    public static func md5(_ bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe av_md5_sum(&digest, bytes, bytes.count)
        return hexadecimal(digest)
    }

    /// Starts at 0, as FFmpeg's `framecrc` does.
    public static func adler32(_ bytes: [UInt8]) -> String {
        let value = unsafe av_adler32_update(0, bytes, bytes.count)
        return hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    /// The CRC of Ethernet and zip.
    public static func crc32(_ bytes: [UInt8]) -> String {
        let value = unsafe ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xffff_ffff, bytes, bytes.count)
        return hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// MD5 and SHA-1 of many frames one after the other.
@safe
public final class RunningChecksum {
    private let md5Context: OpaquePointer
    private let sha1Context: OpaquePointer

    public init() {
        unsafe md5Context = av_md5_alloc()
        unsafe sha1Context = av_sha_alloc()
        unsafe av_md5_init(md5Context)
        unsafe av_sha_init(sha1Context, 160)
    }

    deinit {
        unsafe av_free(UnsafeMutableRawPointer(md5Context))
        unsafe av_free(UnsafeMutableRawPointer(sha1Context))
    }

    public func update(_ bytes: [UInt8]) {
        unsafe av_md5_update(md5Context, bytes, bytes.count)
        unsafe av_sha_update(sha1Context, bytes, bytes.count)
    }

    /// To be called once, at the end.
    public func finish() -> (md5: String, sha1: String) {
        var md5 = [UInt8](repeating: 0, count: 16), sha1 = [UInt8](repeating: 0, count: 20)
        unsafe av_md5_final(md5Context, &md5)
        unsafe av_sha_final(sha1Context, &sha1)
        return (Checksum.hexadecimal(md5), Checksum.hexadecimal(sha1))
    }
}
