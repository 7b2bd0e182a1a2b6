internal import CCurl
internal import Glibc

/// Why a web server's answer does not come, or comes to no end.
package enum HTTPFailure: Error, Equatable, Sendable {
    /// The caller does not wait any more.
    case cancelled
    /// libcurl cannot be loaded.
    case noLibrary
    case noMemory
    /// The system gives no more descriptors.
    case noDescriptors
    case badAddress
    case unknownHost
    /// Nothing listens there.
    case refused
    /// There is no way to the server.
    case unreachable
    /// Nothing came for too long.
    case timedOut
    /// The connection was reset, or ended before the answer did.
    case broken
    /// The server's certificate does not count.
    case certificate
    /// The file with the authorities' certificates cannot be read.
    case authorities
    /// No secure connection.
    case handshake
    /// The server refuses, or fails: its status (RFC 9110, 15).
    case status(Int)
    /// A redirect leads to what is on no web server.
    case leadsElsewhere
    case tooManyRedirects
    /// What answers does not speak HTTP, or breaks its rules.
    case notHTTP
    /// The answer begins at another byte than was asked for.
    case beginsElsewhere
    /// The proxy refuses, or cannot be found.
    case proxy
    /// In libcurl's words.
    case other(String)

    /// Whether it may be another one, or none, the next time.
    package var mayPass: Bool {
        switch self {
        case .cancelled, .noLibrary, .noMemory, .noDescriptors, .badAddress, .certificate, .authorities, .leadsElsewhere, .tooManyRedirects: false
        case .status(let status): status >= 500 || status == 408 || status == 429
        default: true
        }
    }

    /// What libcurl's number means; nil where all went well.
    ///
    /// - Parameter system: The number of the system's error behind it (errno); 0: none.
    init?(_ code: CURLcode, system: Int32, words: @autoclosure () -> String) {
        switch code {
        case CURLE_OK: return nil
        case CURLE_OUT_OF_MEMORY: self = .noMemory
        case _ where system == EMFILE || system == ENFILE: self = .noDescriptors
        case CURLE_URL_MALFORMAT: self = .badAddress
        case CURLE_COULDNT_RESOLVE_HOST: self = .unknownHost
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: self = .proxy
        case CURLE_COULDNT_CONNECT: self = Self.connecting(system)
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: self = .broken
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: self = .certificate
        case CURLE_SSL_CACERT_BADFILE: self = .authorities
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED: self = .handshake
        case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: self = .notHTTP
        default: self = .other(words())
        }
    }

    private static func connecting(_ system: Int32) -> HTTPFailure {
        switch system {
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: .unreachable
        case ETIMEDOUT: .timedOut
        default: .refused
        }
    }
}
