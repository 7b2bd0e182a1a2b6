internal import Media
internal import Web

/// An address on a server that libavformat talks to by itself (RTSP, RTMP, SRT, TCP, UDP …), as far as its errors need it (RFC 3986, 3).
package struct StreamAddress: Equatable {
    /// In lower case: `rtsp`, `tcp` …
    package var scheme: String
    /// In lower case, without the brackets of an IPv6 address; empty where the address names none.
    package var host: String
    /// The sender makes the connection (`srt://:9000?mode=listener`). It may fail to, and have to come again: libsrt gives a connection up where the
    /// answer to its last handshake is lost (https://github.com/Haivision/srt/issues/2771).
    package var waitsForSender: Bool

    /// nil for files, descriptors, and what is on a web server.
    package init?(_ address: String) {
        guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return nil }
        scheme = address[..<colon].lowercased()
        guard let first = scheme.first, first.isLetter, scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            !Self.elsewhere.contains(scheme)
        else { return nil }
        host = WebAddress.place(of: address[colon...].dropFirst(3).prefix { !"/?#".contains($0) }).host.lowercased()
        let query = address.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
        waitsForSender = scheme == "srt" && query.split(separator: "&").contains("mode=listener")
    }

    private static let elsewhere: Set = ["http", "https", "file", "pipe", "fd", "data", "concat", "subfile", "crypto", "cache", "async"]

    /// A sender of UDP packets is not asked, and does not say that it ends.
    package var hasConnection: Bool { !["udp", "udplite", "rtp"].contains(scheme) }

    /// The server proves who it is by a certificate.
    var isSecure: Bool { ["tls", "rtmps", "rtmpts", "rtsps"].contains(scheme) }

    /// libavformat opens the connection inside without being told whether the certificate counts.
    private var hidesCertificate: Bool { scheme == "rtsps" || scheme == "rtmpts" }

    /// Throws where the server's certificate counts and cannot be checked.
    func check(_ location: String, _ network: NetworkOptions) throws(AssetError) {
        guard hidesCertificate, network.verifiesCertificates else { return }
        let server = scheme.uppercased()
        throw AssetError(.network, "\(location): the certificate of an \(server) server cannot be checked, and it was not said that any will do.")
    }

    /// RTSP opens its connections in the demuxer, which takes other options than libavformat's protocols.
    package var isRTSP: Bool { scheme == "rtsp" || scheme == "rtsps" }
}

/// How the frames of an RTSP stream come.
public enum RTSPTransport: Sendable, Hashable {
    /// Over the connection on which they are asked for, and over UDP where the server refuses that.
    case automatic
    /// Over the connection on which they are asked for: nothing is lost, and firewalls let it pass.
    case tcp
    /// In UDP packets, which may be lost, but of which none waits for another one that was lost.
    case udp
}

extension NetworkOptions {
    /// The options for a stream as libavformat's protocols and demuxers name them.
    func libraryOptions(for place: StreamAddress) -> [String: String] {
        // Microseconds. libavformat keeps some of them in 32 bits: 35 minutes.
        let silence = "\(min(max(timeout.nanoseconds / 1000, 1), Int64(Int32.max)))"
        guard place.isRTSP else {
            // Of UDP, `rw_timeout` does not end the wait for the next packet.
            var options = place.scheme.hasPrefix("udp") ? ["timeout": silence] : ["rw_timeout": silence]
            // Who waits for a sender to come waits no longer than for one that is silent.
            if place.scheme == "srt" { options["listen_timeout"] = silence }
            guard place.isSecure else { return options }
            options["tls_verify"] = verifiesCertificates ? "1" : "0"
            options["ca_file"] = authorities
            return options
        }
        var options = ["timeout": silence]
        options["user_agent"] = userAgent
        switch rtspTransport {
        case .automatic: options["rtsp_flags"] = "prefer_tcp"
        case .tcp: options["rtsp_transport"] = "tcp"
        case .udp: options["rtsp_transport"] = "udp"
        }
        return options
    }
}
