internal import Demuxing
internal import Media
internal import Sandbox

/// Films that are made while they are played.
extension OpenedSource {
    /// Reads a film that is live by a thread of its own; leaves others as they are.
    ///
    /// Live is what a sender sends without saying how long it is, and an HLS list or DASH manifest without an end.
    /// - Parameter select: what is read of a container: the same tracks as of `reader`.
    mutating func followLive(
        _ reader: any AssetReading, _ configuration: PlayerConfiguration, _ options: AssetReaderOptions,
        select: @escaping @Sendable (any AssetReading) -> AssetSource
    ) {
        let place = StreamAddress(location), isList = ["hls", "dash"].contains { reader.containerName.hasPrefix($0) }
        let isSession = reader.containerName == "sdp"
        guard !reader.duration.isNumeric, options.source == nil, place != nil || isList || isSession, let asset = samples as? AssetSource,
            let lead = videoTrack ?? audio?.track
        else { return }
        let target = configuration.latency.target(for: location), network = configuration.network
        let manner = LiveSource.Manner(
            location: location, lead: lead, target: target, tellsOffsets: ["mpegts", "flv"].contains(reader.containerName),
            window: isList ? Self.longestPart : Self.jitterWindow,
            limits: LiveBuffer.Limits(
                ahead: target == nil && !isList ? Self.bytesHanded : network.cacheAhead, behind: network.cacheBehind, dropsOldest: target != nil),
            network: network)
        let tracks = reader.tracks, wanted = [videoTrack, audio?.track].compactMap(\.self), name = location
        // Parts of lists, and packets of senders that nobody asks, come again by themselves.
        let returns = place?.hasConnection == true
        let again: @Sendable (AssetCancellation) throws(AssetError) -> AssetSource = { cancellation throws(AssetError) in
            var options = options
            options.cancellation = cancellation
            let reader = try SourceReader(opening: name, options, configuration.sandbox).reader
            guard wanted.allSatisfy({ $0 < reader.tracks.count && reader.tracks[$0].kind == tracks[$0].kind }) else {
                throw AssetError(.damaged, "\(name): it has other tracks than before.")
            }
            return select(reader)
        }
        let live = LiveSource(asset, manner, reopen: returns ? again : nil)
        self.live = live
        samples = live
    }

    /// 10 s: the parts of most lists are no longer.
    private static let longestPart = HostSpan.seconds(10)
    private static let jitterWindow = HostSpan.milliseconds(200)
    /// 256 KiB on their way: the sender waits with the rest.
    private static let bytesHanded: Int64 = 256 << 10
}
