package import Media

/// What has become of a camera's compressed frames on their way through a decoder: which waits, which is left out, which is answered.
///
/// Frames come from the driver as soon as they are there, so that it never lacks buffers, and wait here for the decoder. When it cannot follow, or
/// has no surface to write to, the oldest are left out: one by one where each can be decoded by itself, else all before the newest one that
/// decoding can begin at. What comes out is in the order in which it came in.
package struct CompressedQueueState<Sample, Frame> {
    /// What becomes of a frame.
    package enum Fate {
        case frame(Frame)
        case lost(CaptureDrop.Reason)
    }

    /// A frame of the driver's.
    package struct Entry {
        package var receipt: SequenceState.Receipt
        package var time: HostTime
        /// Decoding can begin here.
        var isSync: Bool
        /// Nil when the decoder has it, or it is left out.
        var sample: Sample?
        /// Nil until it is known.
        var fate: Fate?
        /// The decoder's number of it.
        var number: UInt64?
    }

    /// Whether every frame can be decoded by itself.
    private let isIntra: Bool
    private let capacity: Int
    private var entries: [Entry] = []
    private var given: UInt64 = 0
    /// Why frames are left out until decoding can begin again.
    private var skipping: CaptureDrop.Reason?

    /// - Parameter isIntra: Whether every frame can be decoded by itself, as of Motion-JPEG.
    package init(isIntra: Bool) {
        self.isIntra = isIntra
        // 4: a busy moment. Where frames depend on others, leaving one out costs all up to the next beginning: 2 s of most cameras.
        capacity = isIntra ? 4 : 60
    }

    /// Whether a frame waits for the decoder.
    package var hasSample: Bool { entries.contains { $0.sample != nil } }

    /// A frame came from the driver.
    /// - Parameter hasRoom: Whether the decoder has a surface to write to.
    package mutating func add(_ sample: Sample, isSync: Bool, _ receipt: SequenceState.Receipt, at time: HostTime, hasRoom: Bool) {
        let isSync = isSync || isIntra
        if isSync { skipping = nil }
        guard skipping == nil else { return lose(skipping ?? .late, receipt, at: time) }
        entries.append(Entry(receipt: receipt, time: time, isSync: isSync, sample: sample))
        let waiting = entries.indices.filter { entries[$0].sample != nil }
        guard waiting.count > capacity else { return }
        let reason: CaptureDrop.Reason = hasRoom ? .late : .outOfBuffers
        if isIntra { return leaveOut(waiting.prefix(1), reason) }
        guard let beginning = waiting.dropFirst().last(where: { entries[$0].isSync }) else {
            leaveOut(waiting[...], reason)
            return skipping = reason
        }
        leaveOut(waiting.prefix { $0 < beginning }, reason)
    }

    private mutating func leaveOut(_ indices: some Sequence<Int>, _ reason: CaptureDrop.Reason) {
        for index in indices {
            entries[index].sample = nil
            entries[index].fate = .lost(reason)
        }
    }

    /// A frame that the driver could not deliver whole.
    package mutating func lose(_ reason: CaptureDrop.Reason, _ receipt: SequenceState.Receipt, at time: HostTime) {
        entries.append(Entry(receipt: receipt, time: time, isSync: false, fate: .lost(reason)))
    }

    /// The oldest frame that waits, for the decoder, which answers it under a number that counts these from 0.
    package mutating func give() -> (sample: Sample, isSync: Bool, time: HostTime)? {
        guard let index = entries.firstIndex(where: { $0.sample != nil }), let sample = entries[index].sample else { return nil }
        entries[index].sample = nil
        entries[index].number = given
        given += 1
        return (sample, entries[index].isSync, entries[index].time)
    }

    /// The driver's count and the time of a frame that the decoder has; nil where it has been answered.
    package func entry(_ number: UInt64) -> Entry? { entries.first { $0.number == number && $0.fate == nil } }

    /// The decoder has answered a frame. It puts frames out in the order in which it got them: those before that have no answer will have none.
    package mutating func answer(_ number: UInt64, _ fate: Fate) {
        guard let index = entries.firstIndex(where: { $0.number == number && $0.fate == nil }) else { return }
        for before in entries[..<index].indices where entries[before].number != nil && entries[before].fate == nil {
            entries[before].fate = .lost(.damaged)
        }
        entries[index].fate = fate
    }

    /// The oldest frame, once its fate is known.
    package mutating func take() -> (entry: Entry, fate: Fate)? {
        guard let first = entries.first, let fate = first.fate else { return nil }
        return (entries.removeFirst(), fate)
    }

    /// The camera has stopped: nothing more is decoded.
    package mutating func finish() {
        for index in entries.indices where entries[index].fate == nil {
            entries[index].sample = nil
            entries[index].fate = .lost(.late)
        }
    }
}

extension CompressedQueueState.Entry: Sendable where Sample: Sendable, Frame: Sendable {}
extension CompressedQueueState.Fate: Sendable where Frame: Sendable {}
extension CompressedQueueState: Sendable where Sample: Sendable, Frame: Sendable {}
