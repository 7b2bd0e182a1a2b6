internal import Glibc
public import Media
internal import Web

/// How a film is fetched from a server: what the server is told, whom to believe, and how long a broken connection is tried again.
public struct NetworkOptions: Sendable, Hashable {
    /// How long a film goes on being asked for while no byte of it comes, before reading ends with `AssetError.Code.cutShort`.
    public var timeout: HostSpan
    /// How long one connection may be silent before another one is opened in its place.
    public var stallTimeout: HostSpan
    /// How many bytes are fetched ahead of what is being read, and kept in memory: 150 MiB. At least 64 KiB.
    public var cacheAhead: Int64 = 150 << 20
    /// How many bytes that have been read stay in memory, so that going back asks the server for nothing: 50 MiB.
    public var cacheBehind: Int64 = 50 << 20
    /// A folder in which a file without a name keeps what does not fit in memory, so that all of a film is fetched ahead and nothing of it twice;
    /// nil: memory alone. It is for films whose length the server tells, and not for adaptive ones (HLS, DASH). The file takes at most the length of
    /// the film, leaves a twentieth of the disk free (at most 1 GiB), and is gone when the film is closed or the program ends, however it ends.
    /// Where it cannot be written, the viewer is told, and the film goes on without it.
    public var cacheFolder: String?
    /// Whether a server must show a certificate for its name that an authority has signed (TLS). Without it anybody between may read and change the
    /// film.
    public var verifiesCertificates = true
    /// A file with the authorities' certificates (PEM); nil: the system's.
    public var certificateAuthorities: String?
    /// How the player calls itself (RFC 9110, 10.1.5); nil: `Scanout`.
    public var userAgent: String?
    /// The page that the film is said to stand on (RFC 9110, 10.1.3).
    public var referrer: String?
    /// Further header fields, each `Name: value`. They go to every server that the film leads to, also by a redirect.
    public var headerFields: [String] = []
    /// A file with cookies as browsers and curl write it (Netscape's format). Each goes only where it belongs.
    public var cookiesFile: String?
    /// A file with names and passwords as curl and wget read it (`~/.netrc`), for addresses that have none; nil: none is read.
    public var netrcFile: String?

    /// A proxy that web servers are asked through (`http://host:port`); nil: as the environment says (`http_proxy`, `https_proxy`, `all_proxy`, but
    /// for hosts in `no_proxy`); empty: none.
    public var proxy: String?

    /// Which variant of a film is read, where a list offers several (HLS).
    public var variant = VariantPreference.automatic

    /// How the frames of RTSP streams come.
    public var rtspTransport = RTSPTransport.automatic

    /// The folder of `cacheFolder` that `play` takes where it is told none: the user's for caches (`$XDG_CACHE_HOME`, `~/.cache`) where files can
    /// be made there, else `/var/tmp`. `/tmp` is memory on many systems.
    public static var usualCacheFolder: String {
        func value(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
        let candidates = [value("XDG_CACHE_HOME"), value("HOME").map { $0 + "/.cache" }].compactMap(\.self)
        return candidates.first { folder in
            unsafe folder.hasPrefix("/") && access(folder, W_OK | X_OK) == 0
        } ?? "/var/tmp"
    }

    /// Takes the defaults of `play`.
    public init(timeout: HostSpan = .seconds(30), stallTimeout: HostSpan = .seconds(10)) {
        self.timeout = timeout
        self.stallTimeout = stallTimeout
    }

    var cache: ByteCache.Limits { ByteCache.Limits(ahead: max(cacheAhead, Int64(ByteCache.blockSize)), behind: max(cacheBehind, 0)) }

    /// What a web server is told.
    /// - Throws: when the file of cookies cannot be read.
    func webSettings() throws(AssetError) -> HTTPSettings {
        if let cookiesFile, unsafe cookiesFile.withPath({ unsafe access($0, R_OK) }) != 0 { throw AssetError.opening(cookiesFile, errno) }
        var settings = HTTPSettings(userAgent: userAgent ?? HTTPSettings.usualUserAgent, silence: min(stallTimeout, timeout))
        (settings.referrer, settings.cookiesFile, settings.proxy) = (referrer, cookiesFile, proxy)
        (settings.verifiesCertificates, settings.authorities) = (verifiesCertificates, authorities)
        settings.headerFields = usableFields
        return settings
    }

    /// A line break would begin another field.
    private var usableFields: [String] { headerFields.filter { !$0.contains(where: \.isNewline) } }

    /// How long a connection may be silent, as libavformat takes it: in microseconds.
    var silence: String { "\(max(min(stallTimeout, timeout).nanoseconds / 1000, 1))" }

    /// The same as options of libavformat's protocols, by their names, for what its demuxers ask web servers for by themselves.
    /// - Throws: when the file of cookies cannot be read.
    func libraryOptions(for address: String) throws(AssetError) -> [String: String] {
        // `timeout` also limits how long connecting takes, in the protocol tcp.
        var options = ["rw_timeout": silence, "timeout": silence, "tls_verify": verifiesCertificates ? "1" : "0"]
        options["ca_file"] = authorities
        options["user_agent"] = userAgent ?? HTTPSettings.usualUserAgent
        options["http_proxy"] = proxy
        options["referer"] = referrer
        if !usableFields.isEmpty { options["headers"] = usableFields.map { "\($0)\r\n" }.joined() }
        if let cookiesFile, let place = WebAddress(address) {
            guard let text = Self.text(of: cookiesFile) else { throw AssetError.opening(cookiesFile, errno) }
            let cookies = CookieFile.libraryOption(text, for: place, now: Int64(time(nil)))
            if !cookies.isEmpty { options["cookies"] = cookies }
        }
        return options
    }

    /// The address of something on a web server with the name and the password that are known for its host.
    /// - Throws: when the file of passwords cannot be read.
    func completed(_ address: String) throws(AssetError) -> String {
        guard let netrcFile, WebAddress(address) != nil else { return address }
        guard let text = Self.text(of: netrcFile) else { throw AssetError.opening(netrcFile, errno) }
        return NetrcFile(text).completed(address)
    }

    /// The file with the authorities whose certificates count.
    var authorities: String? { certificateAuthorities ?? Self.systemAuthorities }

    /// Where Debian, Fedora, Alpine and SUSE keep the authorities' certificates. libavformat finds them by itself only with GnuTLS.
    private static let systemAuthorities: String? = {
        let places = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
        ]
        return places.first { unsafe access($0, R_OK) == 0 }
    }()

    private static func text(of path: String) -> String? {
        guard let file = unsafe path.withPath({ unsafe fopen($0, "re") }) else { return nil }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        while bytes.count < largestCookies {
            var part = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe fread(&part, 1, part.count, file)
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// 4 MiB: more than browsers keep.
    private static let largestCookies = 4 << 20
}
