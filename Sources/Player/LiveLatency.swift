internal import Demuxing

/// How far behind its sender a live film is played.
public enum LiveLatency: Sendable, Hashable {
    /// As the kind of source allows: 0.5 s for RTSP without a length, RTP (also by an `.sdp` file), UDP and SRT, 1 s for RTMP. Sources that may hold
    /// a film that is sent as fast as it is taken (TCP), and HLS and DASH, whose viewers may want to be behind, are not held.
    case automatic
    /// Nothing is held: what is once behind stays behind.
    case none
    /// So many seconds, for every live source.
    case seconds(Double)

    /// Seconds for a film at this place; nil: none are held.
    package func target(for location: String) -> Double? {
        switch self {
        case .none: nil
        case .seconds(let seconds): seconds
        case .automatic:
            switch StreamAddress(location)?.scheme {
            case "rtsp", "rtsps", "rtp", "srtp", "udp", "udplite", "srt": 0.5
            case "rtmp", "rtmps", "rtmpt", "rtmpe", "rtmpte", "rtmpts": 1
            case nil where location.lowercased().hasSuffix(".sdp"): 0.5
            default: nil
            }
        }
    }
}
