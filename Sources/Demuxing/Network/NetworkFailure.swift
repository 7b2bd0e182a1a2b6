internal import CAV
internal import CAVFormat
internal import Glibc

/// Why a film on a web server cannot be opened, each cause in its own sentence. libavformat tells an unknown host and a certificate that is not
/// valid by the same number as a fault of the disk, so that these are looked for here.
extension AssetError {
    /// Blocks, where the cause has to be looked for, as connecting does.
    static func opening(web address: String, av code: Int32, _ libraryOptions: [String: String]) -> AssetError {
        func network(_ words: String) -> AssetError { AssetError(.network, "\(address): \(words).") }
        switch code {
        case cav_error_http_bad_request: return network("the server does not understand the request (400)")
        case cav_error_http_unauthorized:
            return AssetError(.permission, "\(address): the server wants another name and password (401).")
        case cav_error_http_forbidden: return AssetError(.permission, "\(address): the server does not give it out (403).")
        case cav_error_http_not_found: return AssetError(.noSuchFile, "\(address): the server has no such file (404).")
        case cav_error_http_other: return network("the server refuses the request (4xx)")
        case cav_error_http_server: return network("the server has failed (5xx)")
        case cav_error(ECONNREFUSED): return network("nothing serves there: the connection was refused")
        case cav_error(ETIMEDOUT): return network("the server does not answer")
        case cav_error(ECONNRESET): return network("the server has broken off the connection")
        case cav_error(EIO): return network(cause(WebAddress(address), libraryOptions) ?? "the connection broke before the server answered")
        default: return opening(address, av: code)
        }
    }

    /// nil where it is none of those looked for.
    static func cause(_ place: WebAddress?, _ libraryOptions: [String: String]) -> String? {
        // A proxy looks names up by itself.
        let proxy = unsafe libraryOptions["http_proxy"] ?? getenv("http_proxy").map { unsafe String(cString: $0) } ?? ""
        guard let place, proxy.isEmpty else { return nil }
        if isUnknown(host: place.host) { return "there is no host \(place.host)" }
        guard place.isSecure else { return nil }
        let checks = libraryOptions["tls_verify"] == "1"
        if canShakeHands(place, libraryOptions, checking: checks) { return nil }
        if checks, canShakeHands(place, libraryOptions, checking: false) {
            return "the certificate of \(place.host) is not valid: no known authority has signed it, it has expired, or it is another host's"
        }
        return "no secure connection (TLS) can be made"
    }

    /// Whether nobody knows a machine of this name.
    static func isUnknown(host: String) -> Bool {
        guard !host.isEmpty else { return false }
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, nil, &found)
        unsafe freeaddrinfo(found)
        return status == EAI_NONAME || status == EAI_AGAIN || status == EAI_FAIL || status == EAI_NODATA
    }

    /// EAI_NODATA of glibc, which is left out of POSIX.
    private static let EAI_NODATA: Int32 = -5

    /// Whether TLS works. Nothing is asked for or sent over that connection.
    ///
    /// - Parameter checksCertificate: whether the certificate is looked at.
    private static func canShakeHands(_ place: WebAddress, _ libraryOptions: [String: String], checking checksCertificate: Bool) -> Bool {
        var dictionary: OpaquePointer?
        for key in ["rw_timeout", "timeout"] { unsafe av_dict_set(&dictionary, key, libraryOptions[key], 0) }
        unsafe av_dict_set(&dictionary, "tls_verify", checksCertificate ? "1" : "0", 0)
        if checksCertificate { unsafe av_dict_set(&dictionary, "ca_file", libraryOptions["ca_file"], 0) }
        var io: UnsafeMutablePointer<AVIOContext>?
        let host = place.host.contains(":") ? "[\(place.host)]" : place.host
        let status = unsafe avio_open2(&io, "tls://\(host):\(place.port)", AVIO_FLAG_READ_WRITE, nil, &dictionary)
        unsafe av_dict_free(&dictionary)
        unsafe avio_closep(&io)
        return status >= 0
    }
}
