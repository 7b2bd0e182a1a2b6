internal import Synchronization

/// What the CPU did to pixel bytes: the evidence for "written once, read in place".
///
/// Thread-safety: all of it; counters only grow.
public final class FrameStatistics: Sendable {
    private let written = Atomic<Int>(0)
    private let copied = Atomic<Int>(0)
    private let decoded = Atomic<Int>(0)

    /// Makes counters that stand at 0. A decoder and the stages after it may share one object.
    public init() {}

    /// Pixel bytes that decoders wrote.
    public var bytesWritten: Int { written.load(ordering: .relaxed) }
    /// Pixel bytes copied or converted afterwards, by anyone; 0 on a path without copies.
    public var bytesCopied: Int { copied.load(ordering: .relaxed) }
    /// Frames that left a decoder.
    public var framesDecoded: Int { decoded.load(ordering: .relaxed) }

    /// Adds pixel bytes that a decoder has written; called by decoders.
    public func addWritten(_ bytes: Int) { written.wrappingAdd(bytes, ordering: .relaxed) }
    /// Adds pixel bytes that have been copied or converted; called by whoever does that.
    public func addCopied(_ bytes: Int) { copied.wrappingAdd(bytes, ordering: .relaxed) }
    /// Counts a frame that has left a decoder.
    public func addDecodedFrame() { decoded.wrappingAdd(1, ordering: .relaxed) }
}
