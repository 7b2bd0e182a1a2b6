public import Media

/// How a film is fetched from a web server, and how long a broken connection is tried again.
public struct NetworkOptions: Sendable, Hashable {
    /// How long a film goes on being asked for while no byte of it comes, before reading ends with `AssetError.Code.cutShort`.
    public var timeout: HostSpan
    /// How long one connection may be silent before another one is opened in its place.
    public var stallTimeout: HostSpan

    /// Takes the defaults of `play`.
    public init(timeout: HostSpan = .seconds(30), stallTimeout: HostSpan = .seconds(10)) {
        self.timeout = timeout
        self.stallTimeout = stallTimeout
    }

    /// The same as options of libavformat's protocols, by their names; times in microseconds.
    var libraryOptions: [String: String] {
        let silence = "\(max(min(stallTimeout, timeout).nanoseconds / 1000, 1))"
        // `timeout` also limits how long connecting takes, in the protocol tcp.
        return ["rw_timeout": silence, "timeout": silence]
    }
}
