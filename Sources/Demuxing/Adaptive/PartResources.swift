internal import CAV
internal import Media

/// What parts are made of besides their own bytes: what stands before them, their keys, and the connection to a file whose ranges they are.
///
/// Thread-safety: the fetching thread's own.
struct PartResources {
    private var heads: [MediaPlaylist.Resource: [UInt8]] = [:]
    private var keys: [String: [UInt8]] = [:]
    /// Of the file whose ranges are parts.
    private var source: (address: String, bytes: HTTPSource)?

    /// 4 MiB: a thousand times what a head has.
    private static let largestHead = 4 << 20
    /// 64 bytes: a key has 16.
    private static let largestKey = 64

    /// What stands before a part; nil where it cannot be had.
    mutating func head(
        _ resource: MediaPlaylist.Resource, _ part: MediaPlaylist.Part, _ fetcher: PartFetcher, _ options: AssetReaderOptions
    ) -> [UInt8]? {
        if let known = heads[resource] { return known }
        guard let source = connect(resource, fetcher, options).source, var bytes = source.bytes(of: resource.range, limit: Self.largestHead) else {
            return nil
        }
        if let key = part.headKey {
            guard let decryption = decryption(key, part.vector(key), fetcher, options) else { return nil }
            bytes = decryption.update(bytes[...]) + decryption.finish()
        }
        heads[resource] = bytes
        return bytes
    }

    /// The index of a file whose ranges are parts; nil where it cannot be had.
    mutating func index(_ resource: MediaPlaylist.Resource, _ fetcher: PartFetcher) -> [UInt8]? {
        connect(resource, fetcher, fetcher.options).source?.bytes(of: resource.range, limit: Self.largestHead)
    }

    /// What reads the bytes behind a key; nil where that cannot be had, or is none.
    mutating func decryption(
        _ key: MediaPlaylist.Key, _ vector: [UInt8], _ fetcher: PartFetcher, _ options: AssetReaderOptions
    ) -> PartDecryption? {
        if keys[key.address] == nil, let source = connect(key.address, fetcher, options).source {
            keys[key.address] = source.bytes(limit: Self.largestKey)
        }
        return keys[key.address].flatMap { PartDecryption(key: $0, vector: vector) }
    }

    // MARK: Connections

    /// Of a file whose ranges follow each other the connection stays.
    mutating func connect(
        _ resource: MediaPlaylist.Resource, _ fetcher: PartFetcher, _ options: AssetReaderOptions
    ) -> (source: HTTPSource?, isMissing: Bool) {
        guard resource.range != nil else { return connect(resource.address, fetcher, options) }
        if let source, source.address == resource.address, source.bytes.loss == nil { return (source.bytes, false) }
        let (opened, isMissing) = connect(resource.address, fetcher, fetcher.options)
        source = opened.map { (resource.address, $0) }
        return (opened, isMissing)
    }

    /// Connects, and tries again until the reader has waited for too long. What the server does not have is missing.
    func connect(_ address: String, _ fetcher: PartFetcher, _ options: AssetReaderOptions) -> (source: HTTPSource?, isMissing: Bool) {
        while !options.cancellation.isCancelled {
            do throws(AssetError) {
                return (try HTTPSource(address, options) { fetcher.state.withLock { $0.waitsSince } }, false)
            } catch {
                if [.noSuchFile, .permission, .cannotOpen].contains(error.code) { return (nil, true) }
                let waited = fetcher.state.withLock { $0.waitsSince }.map { MonotonicClock.shared.now() - $0 } ?? .zero
                if waited > options.network.timeout { return (nil, false) }
            }
        }
        return (nil, false)
    }
}

extension HTTPSource {
    /// All bytes of `range`, or of the whole; nil where they cannot be had, or are more than `limit`.
    func bytes(of range: Range<Int64>? = nil, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = [], part = [UInt8](repeating: 0, count: 65_536)
        let begin = range?.lowerBound ?? 0, length = range.map { $0.upperBound - $0.lowerBound } ?? .max
        while bytes.count <= limit, bytes.count < length {
            let wanted = Int(min(Int64(part.count), length - Int64(bytes.count)))
            let count = unsafe part.withUnsafeMutableBytes {
                unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: begin + Int64(bytes.count))
            }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return bytes.count <= limit ? bytes : nil
    }
}
