internal import ArgumentParser
internal import Demuxing
internal import Media

/// The options for films on web servers.
struct NetworkArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to try to go on with a film from a web server while no byte of it comes, before it ends.", valueName: "seconds"))
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

    @Option(help: ArgumentHelp("Cookies for web servers, in Netscape's format.", valueName: "file"))
    var cookiesFile: String?

    var options: NetworkOptions {
        let timeout = HostSpan.seconds(networkTimeout)
        var options = NetworkOptions(timeout: timeout)
        options.verifiesCertificates = !tlsNoVerify
        options.certificateAuthorities = tlsCa
        (options.userAgent, options.referrer, options.headerFields, options.cookiesFile) = (userAgent, referrer, httpHeaderFields, cookiesFile)
        return options
    }

    mutating func validate() throws {
        if !(0.1...86_400).contains(networkTimeout) { throw ValidationError("--network-timeout must lie between 0.1 and 86400 seconds.") }
        if tlsNoVerify && tlsCa != nil { throw ValidationError("--tls-no-verify and --tls-ca exclude each other.") }
        for field in httpHeaderFields where !field.contains(":") || field.contains(where: \.isNewline) {
            throw ValidationError("--http-header-fields wants Name: value, in one line.")
        }
    }
}
