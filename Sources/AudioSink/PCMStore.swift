internal import Glibc
package import Media

/// Decoded sound on its way from the decoder to the device, laid out on the film's own time line.
///
/// Frame `n` is the sound at media time `n / rate`. What lies between two pieces is silence, what overlaps is trimmed: the
/// places of the frames *are* the time stamps, so nothing can slip. A second lies ahead of the play head (the decoder waits
/// for room), a second is kept behind it, so that after a change of speed or a pause the device can be fed again from what
/// was being heard.
///
/// Thread-safety: all of it. One thread inserts, one reads.
@safe
package final class PCMStore: Sendable {
    @safe
    struct State: @unchecked Sendable {
        let samples: UnsafeMutablePointer<Float>
        /// Frames held: `start ..< end`.
        var start: Int64 = 0
        var end: Int64 = 0
        var playHead: Int64 = .min / 2
        var isEnded = false
        /// How often an end was marked.
        var ends: UInt64 = 0
        /// Frames trimmed away less frames kept, since time stamps last fitted.
        var covered: Int64 = 0
        var epoch: UInt64 = 0
        /// The reader found nothing and wants a signal of `bell`.
        var isStarved = false
        /// The seek that the sound follows.
        var serial: UInt64 = 0
    }
    let state: Monitor<State>
    private let bell: EventFD
    package let rate: Int
    package let channelCount: Int
    private let lookAhead: Int64
    private let capacity: Int64

    /// A time stamp that differs by less from where the piece would lie without it is taken for rounded (Matroska has
    /// milliseconds, some muxers worse): correcting every one would click, and 10 ms are half of what sync allows.
    private let tolerance: Int64

    /// `bell` is signalled when sound arrives for a reader that found none.
    package init(rate: Int, channelCount: Int, bell: EventFD) {
        self.rate = rate
        self.channelCount = channelCount
        self.bell = bell
        lookAhead = Int64(rate)
        capacity = Int64(rate) * 2
        tolerance = Int64(rate) / 100
        let samples = UnsafeMutablePointer<Float>.allocate(capacity: Int(capacity) * channelCount)
        state = unsafe Monitor(State(samples: samples))
    }

    deinit { state.withLock { unsafe $0.samples.deallocate() } }

    // MARK: Decoder's side

    /// What holds now; an insertion made for an older epoch is refused.
    package var epoch: UInt64 { state.withLock { $0.epoch } }

    /// Puts a piece at its media time (`.invalid`: right behind the piece before), waiting for room. False when the store was
    /// cleared meanwhile, and the piece is out of date.
    package func insert(_ piece: UnsafeBufferPointer<Float>, at time: MediaTime, epoch: UInt64) -> Bool {
        let count = Int64(piece.count / channelCount)
        var (consumed, placed): (Int64, Int64?) = (0, nil)
        if continueAfterEnd(at: time, epoch: epoch) { bell.signal() }
        while true {
            let answer: Bool? = state.wait { state -> Bool? in
                if state.epoch != epoch { return false }
                if placed == nil { (placed, consumed) = place(time, count, in: &state) }
                guard let first = placed, consumed < count else { return true }
                let limit = max(state.playHead, state.start) + lookAhead
                // A gap before the piece is filled as room appears, like the piece itself.
                if state.end < first {
                    let silent = min(first, limit) - state.end
                    guard silent > 0 else { return nil }
                    unsafe append(nil, silent, &state)
                    if state.end < first { return nil }
                }
                let length = min(count - consumed, limit - state.end)
                guard length > 0 else { return nil }
                unsafe append(piece.baseAddress! + Int(consumed) * channelCount, length, &state)
                consumed += length
                return consumed == count ? true : nil
            }
            if let answer { return answer }
        }
    }

    /// Sound comes after all: true when there was an end, which the reader may have reached. What it has read gives way, so that silence of any
    /// length may lie between.
    private func continueAfterEnd(at time: MediaTime, epoch: UInt64) -> Bool {
        state.withLock { state in
            guard state.epoch == epoch, state.isEnded else { return false }
            state.isEnded = false
            let first = time.nanoseconds().map { frame(atNanoseconds: $0) } ?? state.end
            if state.playHead >= state.end, first > state.end { (state.start, state.end, state.covered) = (first, first, 0) }
            return true
        }
    }

    /// What lies at or after `time` gives way to what comes: a decoder's last block may be longer than the sound. At most 50 ms of it, and nothing
    /// that the reader has taken.
    package func cut(at time: MediaTime, epoch: UInt64) {
        guard let nanoseconds = time.nanoseconds() else { return }
        let limit = frame(atNanoseconds: nanoseconds)
        state.change { state in
            guard state.epoch == epoch, state.end > limit, state.end - limit <= Int64(rate) / 20 else { return }
            state.end = max(limit, state.start, min(state.playHead, state.end))
        }
    }

    /// Nothing more comes: the sound ends with what is held. Returns whether that was known: no sound has come since.
    @discardableResult
    package func markEnd(epoch: UInt64) -> Bool {
        let wasEnded: Bool? = state.change { state in
            guard state.epoch == epoch else { return nil }
            defer { (state.isEnded, state.isStarved, state.ends) = (true, false, state.ends + 1) }
            return state.isEnded
        }
        // The reader says of each end that it is reached.
        if wasEnded != nil { bell.signal() }
        return wasEnded ?? false
    }

    /// Discards everything and wakes a waiting decoder.
    ///
    /// - Parameter serial: the seek that follows; nil: it is the same as before.
    package func clear(serial: UInt64? = nil) {
        state.change { state in
            state.epoch += 1
            state.serial = serial ?? state.serial
            // Of what was played before.
            state.playHead = .min / 2
            state.start = 0
            state.end = 0
            state.isEnded = false
            state.covered = 0
        }
    }

    /// The frame where a piece is to begin, and how many of its own frames lie on ground already covered.
    ///
    /// Where time stamps fall behind while sound goes on, trimming would leave fragments: after a quarter of a second they are
    /// ignored until they have caught up, and pieces are laid end to end.
    private func place(_ time: MediaTime, _ count: Int64, in state: inout State) -> (first: Int64, skip: Int64) {
        let empty = state.start == state.end
        guard let nanoseconds = time.nanoseconds() else {
            if empty {
                state.start = max(state.playHead, 0)
                state.end = state.start
            }
            return (state.end, 0)
        }
        let first = frame(atNanoseconds: nanoseconds)
        if empty {
            state.start = first
            state.end = first
        }
        let gap = first - state.end
        if gap >= -tolerance {
            state.covered = 0
            return gap > tolerance ? (first, 0) : (state.end, 0)
        }
        if state.covered >= Int64(rate) / 4 { return (state.end, 0) }
        let trimmed = min(-gap, count)
        state.covered = max(0, state.covered + trimmed - (count - trimmed))
        return (state.end, -gap)
    }

    private func append(_ source: UnsafePointer<Float>?, _ count: Int64, _ state: inout State) {
        var done: Int64 = 0
        while done < count {
            let offset = (state.end % capacity + capacity) % capacity
            let length = min(count - done, capacity - offset)
            let target = unsafe state.samples + Int(offset) * channelCount
            if let source = unsafe source {
                unsafe target.update(from: source + Int(done) * channelCount, count: Int(length) * channelCount)
            } else {
                unsafe target.update(repeating: 0, count: Int(length) * channelCount)
            }
            state.end += length
            done += length
        }
        state.start = max(state.start, state.end - capacity)
        if state.isStarved {
            state.isStarved = false
            bell.signal()
        }
    }

    // MARK: Reader's side

    /// Which frames are held, and whether more will come.
    package struct Contents: Sendable, Hashable {
        package var start: Int64
        package var end: Int64
        package var isEnded: Bool
        /// How often an end was marked: which one this is, if there is one.
        package var ends: UInt64
        package var isEmpty: Bool { start == end }
    }

    package var contents: Contents { state.withLock { Contents(start: $0.start, end: $0.end, isEnded: $0.isEnded, ends: $0.ends) } }

    /// Copies the frames from `first` on; silence where there are none. The play head does not move.
    package func read(at first: Int64, into target: UnsafeMutableBufferPointer<Float>) {
        unsafe target.update(repeating: 0)
        state.withLock { unsafe copy(from: first, &$0, into: target) }
    }

    /// Copies those of the frames from `first` on that there are.
    func copy(from first: Int64, _ state: inout State, into target: UnsafeMutableBufferPointer<Float>) {
        var frame = max(first, state.start)
        let end = min(first + Int64(target.count / channelCount), state.end)
        while frame < end {
            let offset = (frame % capacity + capacity) % capacity
            let length = min(end - frame, capacity - offset)
            unsafe (target.baseAddress! + Int(frame - first) * channelCount).update(
                from: state.samples + Int(offset) * channelCount, count: Int(length) * channelCount)
            frame += length
        }
    }

    /// Says what is needed next, which lets the decoder go on.
    ///
    /// The decoder is woken for a quarter of a second of room, not for every few frames.
    package func movePlayHead(to frame: Int64) {
        let wakes = state.withLock { state in
            state.playHead = frame
            return hasRoom(state)
        }
        if wakes { state.wakeWaiters() }
    }

    /// Whether a waiting decoder has enough to do.
    func hasRoom(_ state: borrowing State) -> Bool { max(state.playHead, state.start) + lookAhead - state.end >= lookAhead / 4 }

    /// Requests a signal of `bell` at the next insertion.
    package func ringWhenFilled() { state.withLock { $0.isStarved = true } }

    package func frame(atNanoseconds nanoseconds: Int64) -> Int64 {
        // Split so that the product stays in range: a century of nanoseconds times 192 kHz does not.
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * Int64(rate) + Int64((Double(rest) * Double(rate) / 1e9).rounded())
    }
}
