internal import Media
internal import SurfacePool

/// Which surfaces have textures, which frame they show, and when they are destroyed, without lock or device.
///
/// Textures belong to a piece of memory and go with it, when nobody holds the memory any more (`gone`). Besides, at most `limit` surfaces
/// have textures: the one not asked for the longest goes.
struct TextureCacheState: Sendable {
    /// What textures depend on besides the memory: when it changes, others are needed.
    struct Shape: Sendable, Hashable {
        var layout: SurfaceLayout
        /// Pixels that the textures cover, from the top left of the memory.
        var extent: PixelSize
    }

    /// Which frame is in the memory.
    struct Content: Sendable, Hashable {
        var sequence: UInt64
        var time: MediaTime
    }

    enum Answer: Sendable, Hashable {
        /// There are no textures for this memory.
        case make
        /// There are, and the memory holds another frame than when it was last asked for.
        case refresh
        /// There are, and they show this frame.
        case keep
    }

    private struct Entry: Sendable {
        var shape: Shape
        var content: Content
        var lastAsked: Int
    }

    /// 64: more than the slots of any pool, so that only a peer with new memory for every frame meets it.
    static let usualLimit = 64

    let limit: Int
    private var entries: [SurfaceIdentity: Entry] = [:]
    private var asked = 0

    init(limit: Int = usualLimit) {
        precondition(limit > 0)
        self.limit = limit
    }

    var count: Int { entries.count }

    /// The renderer wants textures of this memory. The textures of `drop` go first.
    mutating func ask(_ identity: SurfaceIdentity, _ shape: Shape, _ content: Content) -> (answer: Answer, drop: [SurfaceIdentity]) {
        asked += 1
        var drop: [SurfaceIdentity] = []
        var answer = Answer.make
        if let entry = entries[identity] {
            if entry.shape != shape { drop.append(identity) } else { answer = entry.content == content ? .keep : .refresh }
        }
        entries[identity] = Entry(shape: shape, content: content, lastAsked: asked)
        while entries.count > limit, let oldest = entries.min(by: { $0.value.lastAsked < $1.value.lastAsked })?.key {
            entries[oldest] = nil
            drop.append(oldest)
        }
        return (answer, drop)
    }

    /// Forgets memory that is gone, or whose textures could not be made. Returns whether it was known.
    mutating func gone(_ identity: SurfaceIdentity) -> Bool { entries.removeValue(forKey: identity) != nil }

    mutating func removeAll() -> [SurfaceIdentity] {
        defer { entries = [:] }
        return Array(entries.keys)
    }
}
