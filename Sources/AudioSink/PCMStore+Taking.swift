internal import Media

extension PCMStore {
    /// How far a reader has come that takes everything in order.
    package struct Cursor: Sendable {
        fileprivate var epoch: UInt64?
        fileprivate var next: Int64 = .min
        fileprivate var isNew = true

        package init() {}

        fileprivate init(epoch: UInt64, next: Int64) {
            self.epoch = epoch
            self.next = next
        }
    }

    /// What was taken.
    package struct Taken: Sendable, Hashable {
        /// The film's frame that it begins with.
        package var first: Int64
        package var samples: [Float]
        /// The seek that it follows.
        package var serial: UInt64
        /// It does not continue what was taken before.
        package var isDiscontinuous: Bool
    }

    /// The frames behind those taken before; nil when there are none yet, or when they precede the seek `serial`: then the bell rings at the next
    /// insertion. Moves the play head, which lets the decoder go on.
    ///
    /// - Parameter time: what lies before it is left out.
    func take(_ cursor: inout Cursor, from time: MediaTime, atMost count: Int, since serial: UInt64) -> Taken? {
        let begin = time.nanoseconds().map(frame(atNanoseconds:)) ?? .min
        let (taken, wakes): (Taken?, Bool) = state.withLock { state in
            if cursor.epoch != state.epoch { cursor = Cursor(epoch: state.epoch, next: begin) }
            let first = max(cursor.next, state.start)
            guard state.serial >= serial, first < state.end else {
                state.isStarved = true
                // For what is left out the decoder need not wait.
                if state.serial >= serial { state.playHead = max(state.playHead, state.end) }
                return (nil, hasRoom(state))
            }
            let length = min(Int64(count), state.end - first)
            let samples = unsafe [Float](unsafeUninitializedCapacity: Int(length) * channelCount) { buffer, filled in
                filled = Int(length) * channelCount
                unsafe copy(from: first, &state, into: UnsafeMutableBufferPointer(rebasing: buffer[..<filled]))
            }
            let taken = Taken(first: first, samples: samples, serial: state.serial, isDiscontinuous: cursor.isNew || first != cursor.next)
            cursor.next = first + length
            cursor.isNew = false
            state.playHead = cursor.next
            return (taken, hasRoom(state))
        }
        if wakes { state.wakeWaiters() }
        return taken
    }

    /// Whether all has been taken and nothing follows.
    package func isExhausted(_ cursor: Cursor) -> Bool {
        state.withLock { $0.isEnded && ($0.start == $0.end || (cursor.epoch == $0.epoch && cursor.next >= $0.end)) }
    }

    /// What is there follows the seek `serial` too.
    package func adopt(_ serial: UInt64) { state.withLock { $0.serial = serial } }
}
