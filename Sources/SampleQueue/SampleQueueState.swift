internal import Media

/// When a queue asks for more and when it has enough: two levels with a gap between, in seconds of film *and* in bytes.
///
/// Below both low marks it asks; at either high mark it stops asking; in between it keeps its last answer. Without the gap a reader
/// would be woken for every single sample.
public struct Watermarks: Sendable, Hashable {
    /// Seconds of film below which the queue asks for more, if it is below `lowBytes` too.
    public var lowSeconds: Double
    /// Seconds of film from which on the queue has enough.
    public var highSeconds: Double
    /// Compressed bytes below which the queue asks for more, if it is below `lowSeconds` too.
    public var lowBytes: Int
    /// Compressed bytes from which on the queue has enough.
    public var highBytes: Int

    /// The defaults hold two seconds: enough to bridge a slow disk or a seek in a badly interleaved file; 32 MiB is what two seconds of
    /// the largest streams take.
    public init(lowSeconds: Double = 1, highSeconds: Double = 2, lowBytes: Int = 16 << 20, highBytes: Int = 32 << 20) {
        precondition(lowSeconds <= highSeconds && lowBytes <= highBytes, "a low mark lies above its high mark")
        self.lowSeconds = lowSeconds
        self.highSeconds = highSeconds
        self.lowBytes = lowBytes
        self.highBytes = highBytes
    }
}

/// The samples of a queue and its decisions, without lock, thread or clock.
package struct SampleQueueState: Sendable {
    package let watermarks: Watermarks
    /// Samples in order; those before `head` are gone.
    private var samples: [SampleBuffer?] = []
    private var head = 0
    private var pendingFlush: Bool?
    package private(set) var bufferedBytes = 0
    /// Nanoseconds of film in the queue.
    private var bufferedNanoseconds: Int64 = 0
    /// Decode time of the newest sample, from which durations follow where samples have none.
    private var newest = MediaTime.invalid
    private var oldest = MediaTime.invalid
    private var hasEnough = false
    /// An end-of-stream marker is the last item: the source is not called until something else is enqueued.
    private var hasEnded = false
    package private(set) var isInterrupted = false

    package init(watermarks: Watermarks) { self.watermarks = watermarks }

    package var count: Int { samples.count - head }
    package var bufferedSeconds: Double { Double(bufferedNanoseconds) / 1e9 }
    package var isReadyForMoreSamples: Bool { !hasEnough && !hasEnded }

    /// What the consumer gets next.
    package enum Item: Sendable {
        case sample(SampleBuffer)
        /// Everything before is void; blank the display when true.
        case flush(removeImage: Bool)
    }

    package mutating func enqueue(_ sample: SampleBuffer) {
        if case .marker(.endOfStream) = sample.content { hasEnded = true } else { hasEnded = false }
        bufferedBytes += sample.byteCount
        bufferedNanoseconds += Self.nanoseconds(of: sample, after: newest)
        if sample.decodeTime.isNumeric { newest = sample.decodeTime }
        samples.append(sample)
        judge()
    }

    /// Takes the next item; nil when there is none.
    package mutating func dequeue() -> Item? {
        if let removeImage = pendingFlush {
            pendingFlush = nil
            return .flush(removeImage: removeImage)
        }
        guard head < samples.count, let sample = samples[head] else { return nil }
        samples[head] = nil
        head += 1
        if head == samples.count {
            samples.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 256, head * 2 >= samples.count {
            samples.removeFirst(head)
            head = 0
        }
        bufferedBytes -= sample.byteCount
        bufferedNanoseconds = count == 0 ? 0 : max(0, bufferedNanoseconds - Self.nanoseconds(of: sample, after: oldest))
        if sample.decodeTime.isNumeric { oldest = sample.decodeTime }
        judge()
        return .sample(sample)
    }

    /// Forgets every sample. The consumer gets a flush first.
    package mutating func flush(removeImage: Bool) {
        samples.removeAll(keepingCapacity: true)
        head = 0
        bufferedBytes = 0
        bufferedNanoseconds = 0
        newest = .invalid
        oldest = .invalid
        hasEnough = false
        hasEnded = false
        pendingFlush = (pendingFlush ?? false) || removeImage
    }

    package mutating func interrupt() { isInterrupted = true }

    /// True once after an interrupt.
    package mutating func takeInterrupt() -> Bool {
        defer { isInterrupted = false }
        return isInterrupted
    }

    private mutating func judge() {
        if bufferedSeconds >= watermarks.highSeconds || bufferedBytes >= watermarks.highBytes {
            hasEnough = true
        } else if bufferedSeconds < watermarks.lowSeconds, bufferedBytes < watermarks.lowBytes {
            hasEnough = false
        }
    }

    /// A sample's length: what it says, else its distance from the one before. A jump of more than a second is a gap, not a length.
    private static func nanoseconds(of sample: SampleBuffer, after previous: MediaTime) -> Int64 {
        if let own = sample.duration.nanoseconds(), own > 0 { return min(own, 1_000_000_000) }
        guard sample.decodeTime.isNumeric, previous.isNumeric, let gap = (sample.decodeTime - previous).nanoseconds() else { return 0 }
        return min(max(gap, 0), 1_000_000_000)
    }
}
