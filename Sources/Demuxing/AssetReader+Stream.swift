internal import CAV
internal import CAVFormat
internal import Glibc
internal import Media
internal import Web

/// The end of a stream that libavformat fetches by itself: the sender's, or that of the connection.
extension AssetReader {
    /// How many bytes of a film in one piece have come, counted as `SampleBuffer.fileOffset` counts them; nil where libavformat counts none, as with
    /// RTSP. With the offsets of samples it tells when a sample came that a parser held back until the next one. On the thread that reads.
    public var bytesReceived: Int64? { unsafe context.pointee.pb.map { unsafe $0.pointee.pos } }

    /// At the end of all packets: throws where the connection broke instead.
    func checkStream() throws(AssetError) {
        guard options.source == nil, !options.cancellation.isCancelled, let place = StreamAddress(location) else { return }
        if let io = unsafe context.pointee.pb, unsafe io.pointee.error < 0, unsafe io.pointee.error != cav_error_eof {
            throw lost(unsafe io.pointee.error)
        }
        if place.isRTSP, unsafe !Self.answers(context) { throw lost(cav_error(ECONNRESET)) }
    }

    /// The error for a read that failed: of a stream, the end that its connection has come to.
    func failure(_ status: Int32) -> AssetError {
        let isLoss = options.source == nil && !hasToldLoss && StreamAddress(location) != nil && AssetError.isBroken(status)
        return isLoss ? lost(status) : AssetError.reading(location, av: status)
    }

    func lost(_ status: Int32) -> AssetError {
        hasToldLoss = true
        return AssetError.ending(location, at: lastEnd, of: duration, AssetError.loss(av: status, StreamAddress(location)))
    }

    /// Whether the RTSP server still answers. libavformat tells the end that a server announces (RTCP BYE; RFC 3550, 6.6) by the same number as a
    /// connection that breaks, but only the second leaves nobody who answers to PAUSE (RFC 2326, 10.6); a refusal is an answer.
    private static func answers(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        let status = unsafe av_read_pause(context)
        return status >= 0
            || [
                cav_error_http_bad_request, cav_error_http_unauthorized, cav_error_http_forbidden, cav_error_http_not_found, cav_error_http_other,
                cav_error_http_server,
            ].contains(status)
    }
}

extension AssetError {
    /// Whether libavformat's number says that a connection is gone or silent.
    static func isBroken(_ code: Int32) -> Bool {
        guard code < 0, code > -4096 else { return false }
        return [EIO, ETIMEDOUT, ECONNRESET, ECONNABORTED, ECONNREFUSED, EPIPE, ENOTCONN, ENETDOWN, ENETUNREACH, EHOSTUNREACH].contains(
            cav_error_posix(code))
    }

    /// Why a stream ends, as the end of a sentence.
    static func loss(av code: Int32, _ place: StreamAddress?) -> String {
        code == cav_error(ETIMEDOUT) || place?.hasConnection == false ? "nothing more of it came" : "the connection was lost"
    }

    /// Why a stream cannot be opened, each cause in its own sentence. Blocks where the cause has to be looked for.
    static func opening(stream address: String, _ place: StreamAddress, av code: Int32, _ network: NetworkOptions) -> AssetError {
        switch code {
        case cav_error(EIO) where isUnknown(host: place.host): AssetError(.network, "\(address): there is no host \(place.host).")
        case cav_error(EIO) where place.isSecure:
            AssetError(.network, "\(address): \(handshake(address, place, network) ?? "the connection broke before the server answered").")
        case cav_error(ETIMEDOUT) where place.waitsForSender: AssetError(.network, "\(address): nothing was sent there.")
        case cav_error(EPROTONOSUPPORT): AssetError(.network, "\(address): the server does not send it in the way that was asked for.")
        case _ where !place.hasConnection && isBroken(code): AssetError(.network, "\(address): nothing comes from there.")
        default: opening(server: address, av: code)
        }
    }

    /// Why no secure connection was made.
    private static func handshake(_ address: String, _ place: StreamAddress, _ network: NetworkOptions) -> String? {
        guard let server = WebAddress("https" + address.dropFirst(place.scheme.utf8.count)) else { return nil }
        return handshake(server.host, server.port, network)
    }
}
