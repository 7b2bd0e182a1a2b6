package import Media

/// What web servers are told, and whom to believe.
package struct HTTPSettings: Sendable, Hashable {
    /// The program's name (RFC 9110, 10.1.5).
    package var userAgent: String
    /// The page that the request is said to come from (RFC 9110, 10.1.3).
    package var referrer: String?
    /// Each `Name: value`. They go to every server that the request leads to, also by a redirect; `Cookie` and `Authorization` only to the first.
    package var headerFields: [String] = []
    /// A file of cookies in Netscape's format. Each goes only where it belongs.
    package var cookiesFile: String?
    package var verifiesCertificates = true
    /// A file with the authorities' certificates (PEM); nil: those that the library knows.
    package var authorities: String?
    /// Instead of what the environment says (`http_proxy`, `https_proxy`, `all_proxy`, but for hosts in `no_proxy`); empty: none.
    package var proxy: String?
    /// How long a connection may be silent.
    package var silence: HostSpan

    package static let usualUserAgent = "Scanout"

    package init(userAgent: String = usualUserAgent, silence: HostSpan = .seconds(10)) {
        self.userAgent = userAgent
        self.silence = silence
    }
}
