internal import Media
internal import Web

/// Finds out how fast a server's bytes come, before it is decided which of them to fetch.
enum ThroughputProbe {
    /// Half a second, or 512 KiB: little beside the first seconds of a film.
    private static let longest = HostSpan.milliseconds(500), mostBytes = 512 << 10

    /// Bits a second of what is at `address`; nil when nothing comes. Blocks. The time until the server answers does not count.
    static func measure(_ address: String, _ options: AssetReaderOptions) -> Int64? {
        guard let settings = try? options.network.webSettings(), let full = try? options.network.completed(address),
            let response = try? HTTPResponse(
                of: full, from: 0, settings, by: options.web, patience: options.network.stallTimeout,
                isOver: { options.cancellation.isCancelled })
        else { return nil }
        let start = MonotonicClock.shared.now()
        var bytes = [UInt8](repeating: 0, count: 32_768), count = 0
        while count < mostBytes, MonotonicClock.shared.now() - start < longest {
            let got = try? unsafe bytes.withUnsafeMutableBytes { unsafe try response.read(into: $0) }
            guard let got, got > 0 else { break }
            count += got
        }
        let elapsed = max((MonotonicClock.shared.now() - start).nanoseconds, 1_000_000)
        return count == 0 ? nil : Int64(Double(count) * 8e9 / Double(elapsed))
    }
}
