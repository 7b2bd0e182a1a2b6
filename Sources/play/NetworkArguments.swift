internal import ArgumentParser
internal import Demuxing
internal import Glibc
internal import Media
internal import Player

/// A size as people type it, and mpv takes it: `500000`, `64KiB`, `150MiB`, `1GiB`; at most 1 TiB.
struct ByteCountArgument: ExpressibleByArgument {
    let count: Int64

    init(count: Int64) { self.count = count }

    init?(argument: String) {
        let digits = argument.prefix(while: \.isNumber), unit = argument.dropFirst(digits.count).lowercased()
        guard let number = Int64(digits), let shift = ["": 0, "b": 0, "kib": 10, "k": 10, "mib": 20, "m": 20, "gib": 30, "g": 30][unit],
            number <= (1 << 40) >> shift
        else { return nil }
        count = number << shift
    }

    var defaultValueDescription: String { "\(count >> 20)MiB" }
}

/// A variant of a film as mpv's option names it: `max`, `min`, or bits a second.
struct VariantArgument: ExpressibleByArgument {
    let preference: VariantPreference

    init(preference: VariantPreference) { self.preference = preference }

    init?(argument: String) {
        switch argument {
        case "auto": preference = .automatic
        case "max": preference = .highest
        case "min": preference = .lowest
        default:
            guard let limit = Int64(argument), limit >= 0 else { return nil }
            preference = .atMost(limit)
        }
    }

    var defaultValueDescription: String { "auto" }
}

/// How the frames of an RTSP stream come, in mpv's words; what it calls `lavf` is `auto` here.
struct TransportArgument: ExpressibleByArgument {
    let transport: RTSPTransport

    init(transport: RTSPTransport) { self.transport = transport }

    init?(argument: String) {
        switch argument {
        case "auto", "lavf": transport = .automatic
        case "tcp": transport = .tcp
        case "udp": transport = .udp
        default: return nil
        }
    }

    var defaultValueDescription: String { "auto" }
}

/// How far behind its sender a live film is played.
struct LatencyArgument: ExpressibleByArgument {
    let latency: LiveLatency

    init(latency: LiveLatency) { self.latency = latency }

    init?(argument: String) {
        switch argument {
        case "auto": latency = .automatic
        case "no": latency = .none
        default:
            guard let seconds = Double(argument), (0.05...60).contains(seconds) else { return nil }
            latency = .seconds(seconds)
        }
    }

    var defaultValueDescription: String { "auto" }
}

/// The options for films on servers.
struct NetworkArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to try to go on with a film from a server while no byte of it comes, before it ends.", valueName: "seconds"))
    var networkTimeout: Double = 30

    @Flag(help: "Accept any certificate from a web server. Anybody between may then read and change the film.")
    var tlsNoVerify = false

    @Option(help: ArgumentHelp("The authorities (PEM) that may sign web servers' certificates, instead of the system's.", valueName: "file"))
    var tlsCa: String?

    @Option(help: ArgumentHelp("How the player calls itself to web servers.", valueName: "text"))
    var userAgent: String?

    @Option(help: ArgumentHelp("The page that the film is said to stand on.", valueName: "url"))
    var referrer: String?

    @Option(help: ArgumentHelp("Another header field for web servers; may be given more than once.", valueName: "name: value"))
    var httpHeaderFields: [String] = []

    @Option(
        help: ArgumentHelp(
            "The proxy through which web servers are asked, or nothing for none (default: as http_proxy, https_proxy and no_proxy say).",
            valueName: "url"))
    var httpProxy: String?

    @Option(
        help: ArgumentHelp(
            "Names and passwords for web servers, as curl and wget read them (default: ~/.netrc, where it is there).", valueName: "file"))
    var netrcFile: String?

    @Option(help: ArgumentHelp("Cookies for web servers, in Netscape's format.", valueName: "file"))
    var cookiesFile: String?

    @Option(
        help: ArgumentHelp("How much of a film from a web server is fetched ahead, in bytes or with KiB, MiB, GiB.", valueName: "size"))
    var demuxerMaxBytes = ByteCountArgument(count: 150 << 20)

    @Option(
        help: ArgumentHelp("How much of what was played is kept, so that going back asks the server for nothing.", valueName: "size"))
    var demuxerMaxBackBytes = ByteCountArgument(count: 50 << 20)

    @Flag(
        help:
            "Fetch a film from a web server to its end, and keep on disk what does not fit in memory. The file has no name and goes with the program."
    )
    var cacheOnDisk = false

    @Option(
        help: ArgumentHelp(
            "Where --cache-on-disk keeps it (default: the folder for caches, ~/.cache, or where there is none /var/tmp).", valueName: "folder"))
    var demuxerCacheDir: String?

    @Option(
        help: ArgumentHelp(
            "Which variant of HLS and DASH films plays: by size and network (auto), highest or lowest bit rate, or the best up to so many bits/s.",
            valueName: "auto|max|min|bits"))
    var hlsBitrate = VariantArgument(preference: .automatic)

    @Option(
        help: ArgumentHelp(
            "How the frames of an RTSP stream come: over TCP, in UDP packets, or over TCP and where the server refuses that in UDP packets (auto).",
            valueName: "auto|tcp|udp"))
    var rtspTransport = TransportArgument(transport: .automatic)

    @Option(
        help: ArgumentHelp(
            "How far behind its sender a live film plays: by the kind of source (auto), nothing is held (no), or 0.05 to 60 seconds.",
            valueName: "auto|no|seconds"))
    var latency = LatencyArgument(latency: .automatic)

    var options: NetworkOptions {
        let timeout = HostSpan.seconds(networkTimeout)
        var options = NetworkOptions(timeout: timeout)
        options.verifiesCertificates = !tlsNoVerify
        options.certificateAuthorities = tlsCa
        options.variant = hlsBitrate.preference
        options.rtspTransport = rtspTransport.transport
        (options.cacheAhead, options.cacheBehind) = (demuxerMaxBytes.count, demuxerMaxBackBytes.count)
        options.cacheFolder = cacheOnDisk ? demuxerCacheDir ?? NetworkOptions.usualCacheFolder : nil
        (options.userAgent, options.referrer, options.headerFields, options.cookiesFile) = (userAgent, referrer, httpHeaderFields, cookiesFile)
        options.proxy = httpProxy
        options.netrcFile = netrcFile ?? Self.usualNetrc
        return options
    }

    /// nil where there is none that can be read.
    private static let usualNetrc: String? = {
        guard let home = unsafe getenv("HOME") else { return nil }
        let path = unsafe String(cString: home) + "/.netrc"
        return unsafe access(path, R_OK) == 0 ? path : nil
    }()

    mutating func validate() throws {
        if !(0.1...86_400).contains(networkTimeout) { throw ValidationError("--network-timeout must lie between 0.1 and 86400 seconds.") }
        if demuxerMaxBytes.count < 64 << 10 { throw ValidationError("--demuxer-max-bytes must be at least 64KiB.") }
        if tlsNoVerify && tlsCa != nil { throw ValidationError("--tls-no-verify and --tls-ca exclude each other.") }
        for field in httpHeaderFields where !field.contains(":") || field.contains(where: \.isNewline) {
            throw ValidationError("--http-header-fields wants Name: value, in one line.")
        }
    }
}
