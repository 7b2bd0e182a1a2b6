internal import Media
internal import SurfacePool

/// Which surfaces have textures, what is in them, and when they go; no lock, no device.
///
/// Textures belong to a piece of memory and go with it. Of a pool in this process that is reported (`gone`), and only when nobody holds the
/// memory any more. Another process reports nothing: its textures go once frames of a newer generation come, after a decent interval.
/// Besides, at most `limit` surfaces have textures: the one not asked for the longest goes.
struct TextureCacheState: Sendable {
    /// What textures were made for, besides the memory: others are needed when it changes.
    struct Shape: Sendable, Hashable {
        var layout: SurfaceLayout
        /// Pixels that the textures cover, from the top left of the memory.
        var extent: PixelSize
    }

    /// Which picture is in the memory.
    struct Content: Sendable, Hashable {
        var sequence: UInt64
        var time: MediaTime
    }

    enum Answer: Sendable, Hashable {
        /// There are no textures for this memory.
        case make
        /// There are, and the memory holds another picture than when it was last asked for.
        case refresh
        /// There are, and they show this picture.
        case keep
    }

    private struct Entry: Sendable {
        var shape: Shape
        var content: Content
        var lastAsked: Int
        var isReported: Bool
    }

    /// 64: more than the slots of any pool, so that only a peer with new memory for every picture meets it.
    static let usualLimit = 64
    /// 8: twice what a server lends at once, so that none of them is still being drawn from.
    static let interval = 8

    let limit: Int
    private var entries: [SurfaceIdentity: Entry] = [:]
    private var asked = 0

    init(limit: Int = usualLimit) {
        precondition(limit > 0)
        self.limit = limit
    }

    var count: Int { entries.count }

    /// The renderer wants textures of this memory. The textures of `drop` go first.
    ///
    /// - Parameter isReported: The end of the memory will be reported.
    mutating func ask(_ identity: SurfaceIdentity, _ shape: Shape, _ content: Content, isReported: Bool) -> (answer: Answer, drop: [SurfaceIdentity])
    {
        asked += 1
        var drop = entries.filter { other, entry in
            !entry.isReported && other.pool == identity.pool && other.generation < identity.generation
                && asked - entry.lastAsked > Self.interval
        }.map(\.key)
        var answer = Answer.make
        if let entry = entries[identity] {
            if entry.shape != shape { drop.append(identity) } else { answer = entry.content == content ? .keep : .refresh }
        }
        drop.forEach { entries[$0] = nil }
        entries[identity] = Entry(shape: shape, content: content, lastAsked: asked, isReported: isReported)
        while entries.count > limit, let oldest = entries.min(by: { $0.value.lastAsked < $1.value.lastAsked })?.key {
            entries[oldest] = nil
            drop.append(oldest)
        }
        return (answer, drop.sorted { ($0.generation, $0.slot) < ($1.generation, $1.slot) })
    }

    /// The memory is no more, or its textures could not be made. Whether there was anything.
    mutating func gone(_ identity: SurfaceIdentity) -> Bool { entries.removeValue(forKey: identity) != nil }

    mutating func removeAll() -> [SurfaceIdentity] {
        defer { entries = [:] }
        return Array(entries.keys)
    }
}
