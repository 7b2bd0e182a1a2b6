/// What a client of exported frames needs. It is fixed before the first frame, so that the decoder's pool has memory for it.
public struct FrameExporterConfiguration: Sendable, Hashable {
    /// What happens to frames that come faster than they are fetched.
    public enum Policy: Sendable, Hashable {
        /// The oldest frames are dropped. The film plays on, whatever the client does.
        case dropOldest
        /// The decoder waits, so every frame is delivered. The display waits too.
        case makeDecoderWait
    }

    /// When a pushed frame is delivered.
    public enum Delivery: Sendable, Hashable {
        /// At its time.
        case whenDue
        /// At once; `FrameDescription.hostTime` says when it is to be seen.
        case whenDecoded
    }

    /// What a client that has used up its budget gets instead of the next frame.
    public enum OverBudget: Sendable, Hashable {
        /// Nothing: the frame is counted as skipped.
        case skip
        /// A copy in memory of the exporter's own, as many as the budget; counted in bytes.
        case copyOut
    }

    /// Different frames that the client may hold at once, those that its device has not finished with included. The decoder's pool has room
    /// for them.
    public var budget: Int
    /// Frames that may wait to be fetched.
    public var bound: Int
    /// What happens to frames that come faster than they are fetched.
    public var policy: Policy
    /// When a pushed frame is delivered.
    public var delivery: Delivery
    /// What the client gets instead of a frame beyond its budget. With `.makeDecoderWait` the frame waits instead.
    public var overBudget: OverBudget
    /// What the frames are to be: formats, modifiers, size, row alignment. Empty: as the decoder makes them.
    public var wishes = FrameWishes()

    /// Makes a configuration; the defaults suit a renderer that draws the newest frame at each refresh.
    ///
    /// - Parameters:
    ///   - budget: 3: one being drawn from, one whose drawing is under way on the device, one being fetched.
    ///   - bound: 8: what a player decodes ahead, and a little more, so that no frame is dropped before it is due.
    public init(
        budget: Int = 3, bound: Int = 8, policy: Policy = .dropOldest, delivery: Delivery = .whenDue, overBudget: OverBudget = .skip
    ) {
        precondition(budget > 0 && bound > 0)
        self.budget = budget
        self.bound = bound
        self.policy = policy
        self.delivery = delivery
        self.overBudget = overBudget
    }
}

/// What an exporter has done.
public struct FrameExporterStatistics: Sendable, Hashable {
    /// Frames that the decoder put in.
    public var offered = 0
    /// Frames given to the client, each counted once however often it was asked for.
    public var delivered = 0
    /// Frames whose time was over before the client asked, or that had to make room.
    public var late = 0
    /// Frames that a client over its budget did not get.
    public var overBudget = 0
    /// Frames forgotten by a flush.
    public var flushed = 0
    /// Bytes copied for a client over its budget, or from memory without a descriptor.
    public var bytesCopied = 0
    /// Fences that frames were released with and that had not signalled after two seconds.
    public var lateFences = 0

    /// Begins with every count at 0.
    public init() {}
}
