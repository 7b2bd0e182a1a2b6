internal import CAV
internal import CAVFormat
internal import Glibc
internal import Web

/// Why a film on a server cannot be opened, each cause in its own sentence.
extension AssetError {
    static func opening(web address: String, _ failure: HTTPFailure) -> AssetError {
        let host = WebAddress(address)?.host ?? address
        switch failure {
        case .cancelled: return opening(address, av: cav_error_exit)
        case .noMemory: return opening(address, ENOMEM)
        case .noDescriptors: return opening(address, EMFILE)
        case .noLibrary: return AssetError(.cannotOpen, "\(address): \(words(for: failure, host)).")
        case .status(401), .status(403): return AssetError(.permission, "\(address): \(words(for: failure, host)).")
        case .status(404), .status(410): return AssetError(.noSuchFile, "\(address): \(words(for: failure, host)).")
        default: return AssetError(.network, "\(address): \(words(for: failure, host)).")
        }
    }

    /// A failure as a sentence without its beginning and its end.
    static func words(for failure: HTTPFailure, _ host: String) -> String {
        switch failure {
        case .cancelled: "nobody waits for it"
        case .noMemory: "there is no memory for it"
        case .noDescriptors: "there are too many open files"
        case .noLibrary: "films on web servers need libcurl (7.85 or newer), which is not installed"
        case .badAddress: "that is no address of a web server"
        case .unknownHost: "there is no host \(host)"
        case .refused: "nothing serves there: the connection was refused"
        case .unreachable: "there is no way to \(host) on this network"
        case .timedOut: "the server does not answer"
        case .broken: "the connection broke before the server answered"
        case .certificate:
            "the certificate of \(host) is not valid: no known authority has signed it, it has expired, or it is another host's"
        case .authorities: "the file with the authorities' certificates cannot be read"
        case .handshake: "no secure connection (TLS) can be made"
        case .leadsElsewhere: "the server leads to what is on no web server"
        case .tooManyRedirects: "the server leads from one address to another without an end"
        case .notHTTP: "what answers there is no web server"
        case .beginsElsewhere: "the server answers with another part of it"
        case .proxy: "the proxy cannot be found, or refuses"
        case .status(let status): words(for: status)
        case .other(let words): "the request failed (\(words))"
        }
    }

    /// A status as the words of a sentence (RFC 9110, 15).
    private static func words(for status: Int) -> String {
        switch status {
        case 400: "the server does not understand the request (400)"
        case 401: "the server wants another name and password (401)"
        case 403: "the server does not give it out (403)"
        case 404: "the server has no such file (404)"
        case 410: "the server has no such file any more (410)"
        case 500...: "the server has failed (\(status))"
        default: "the server refuses the request (\(status))"
        }
    }

    // MARK: Other protocols, by libavformat's numbers

    /// What libavformat says of a server's answer, in the numbers that it has for those of HTTP, RTSP and RTMP.
    static func opening(server address: String, av code: Int32) -> AssetError {
        switch code {
        case cav_error_http_bad_request: opening(web: address, .status(400))
        case cav_error_http_unauthorized: opening(web: address, .status(401))
        case cav_error_http_forbidden: opening(web: address, .status(403))
        case cav_error_http_not_found: opening(web: address, .status(404))
        case cav_error_http_other: AssetError(.network, "\(address): the server refuses the request (4xx).")
        case cav_error_http_server: AssetError(.network, "\(address): the server has failed (5xx).")
        case cav_error(ECONNREFUSED): opening(web: address, .refused)
        case cav_error(ETIMEDOUT): opening(web: address, .timedOut)
        case cav_error(ECONNRESET): AssetError(.network, "\(address): the server has broken off the connection.")
        case cav_error(EIO): opening(web: address, .broken)
        default: opening(address, av: code)
        }
    }

    /// Whether nobody knows a machine of this name. libavformat tells that by the same number as a fault of the disk.
    static func isUnknown(host: String) -> Bool {
        guard !host.isEmpty else { return false }
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, nil, &found)
        unsafe freeaddrinfo(found)
        return status == EAI_NONAME || status == EAI_AGAIN || status == EAI_FAIL || status == EAI_NODATA
    }

    /// EAI_NODATA of glibc, which is left out of POSIX.
    private static let EAI_NODATA: Int32 = -5

    /// Why no secure connection was made, which libavformat tells by that number, too; nil where one can be made. Blocks.
    static func handshake(_ host: String, _ port: UInt16, _ network: NetworkOptions) -> String? {
        let checks = network.verifiesCertificates
        if canShakeHands(host, port, network, checking: checks) { return nil }
        return words(for: checks && canShakeHands(host, port, network, checking: false) ? .certificate : .handshake, host)
    }

    /// Whether TLS works. Nothing is asked for or sent over that connection.
    ///
    /// - Parameter checksCertificate: whether the certificate is looked at.
    private static func canShakeHands(_ host: String, _ port: UInt16, _ network: NetworkOptions, checking checksCertificate: Bool) -> Bool {
        var dictionary: OpaquePointer?
        for key in ["rw_timeout", "timeout"] { unsafe av_dict_set(&dictionary, key, network.silence, 0) }
        unsafe av_dict_set(&dictionary, "tls_verify", checksCertificate ? "1" : "0", 0)
        if checksCertificate { unsafe av_dict_set(&dictionary, "ca_file", network.authorities, 0) }
        var io: UnsafeMutablePointer<AVIOContext>?
        let name = host.contains(":") ? "[\(host)]" : host
        let status = unsafe avio_open2(&io, "tls://\(name):\(port)", AVIO_FLAG_READ_WRITE, nil, &dictionary)
        unsafe av_dict_free(&dictionary)
        unsafe avio_closep(&io)
        return status >= 0
    }
}
