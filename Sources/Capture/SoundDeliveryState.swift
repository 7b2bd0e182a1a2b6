internal import Media

/// What waits for a program between a microphone and its handler, and the count of it. When there is no room the oldest sound goes.
package struct SoundDeliveryState: DeliveryWaiting {
    /// Frames that may wait.
    private var room = 0
    private var items: [AudioCaptureDelivery] = []
    package private(set) var statistics = AudioCaptureStatistics()
    /// Whether sound comes through.
    package private(set) var isEnabled = true
    /// What has not come through, until it can be told.
    private var unheard: AudioCaptureLoss?
    /// A handler runs or will run.
    private var isScheduled = false
    private var end: CaptureError?
    private var hasEnded = false

    package init() {}

    /// Begins anew, with counters at 0.
    package mutating func begin(room: Int) {
        self.room = room
        items.removeAll(keepingCapacity: true)
        statistics = AudioCaptureStatistics()
        unheard = nil
        hasEnded = false
        end = nil
    }

    /// Sound for the program.
    package mutating func add(_ block: AudioCaptureBlock) {
        guard isEnabled else { return leaveOut(block) }
        while statistics.waiting > 0, statistics.waiting + block.frameCount > room { dropOldest() }
        statistics.waiting += block.frameCount
        items.append(.block(block))
    }

    /// Sound that the program does not get.
    package mutating func add(_ loss: AudioCaptureLoss) {
        tellUnheard()
        statistics.lost[loss.reason, default: 0] += loss.count
        if loss.reason == .overrun { statistics.overruns += 1 }
        items.append(.lost(loss))
    }

    /// Nothing follows.
    package mutating func finish(_ error: CaptureError?) {
        guard !hasEnded else { return }
        tellUnheard()
        hasEnded = true
        end = error
        items.append(.ended(error))
    }

    /// Switches the connection on or off.
    package mutating func enable(_ isWanted: Bool) {
        guard isWanted != isEnabled else { return }
        isEnabled = isWanted
        if isWanted { return tellUnheard() }
        for index in items.indices {
            guard case .block(let block) = items[index] else { continue }
            statistics.lost[.switchedOff, default: 0] += block.frameCount
            let time = block.time + .seconds(Double(block.frameCount) / Double(block.sampleRate))
            items[index] = .lost(AudioCaptureLoss(.switchedOff, count: block.frameCount, first: block.number, time: time))
        }
        statistics.waiting = 0
    }

    private mutating func leaveOut(_ block: AudioCaptureBlock) {
        statistics.lost[.switchedOff, default: 0] += block.frameCount
        if let before = unheard, before.first + UInt64(before.count) != block.number { tellUnheard() }
        let time = block.time + .seconds(Double(block.frameCount) / Double(block.sampleRate))
        unheard = AudioCaptureLoss(
            .switchedOff, count: (unheard?.count ?? 0) + block.frameCount, first: unheard?.first ?? block.number, time: time)
    }

    private mutating func tellUnheard() {
        if let loss = unheard { items.append(.lost(loss)) }
        unheard = nil
    }

    /// Whether the caller must call a handler: something waits and none runs.
    package mutating func schedule() -> Bool {
        guard !isScheduled, !items.isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// The oldest thing; nil when there is none, and the handler ends.
    package mutating func take() -> AudioCaptureDelivery? {
        guard !items.isEmpty else {
            isScheduled = false
            return nil
        }
        let item = items.removeFirst()
        if case .block(let block) = item {
            statistics.waiting -= block.frameCount
            statistics.delivered += block.frameCount
        }
        return item
    }

    /// As `take`, and the end again and again.
    package mutating func pull() -> AudioCaptureDelivery? { take() ?? (hasEnded ? .ended(end) : nil) }

    /// The oldest block becomes a report, or a part of the one before it.
    private mutating func dropOldest() {
        guard let index = items.firstIndex(where: { if case .block = $0 { true } else { false } }), case .block(let block) = items[index] else {
            return
        }
        statistics.waiting -= block.frameCount
        statistics.lost[.late, default: 0] += block.frameCount
        let time = block.time + .seconds(Double(block.frameCount) / Double(block.sampleRate))
        if index > 0, case .lost(var before) = items[index - 1], before.reason == .late, before.first + UInt64(before.count) == block.number {
            before.count += block.frameCount
            before.time = time
            items[index - 1] = .lost(before)
            items.remove(at: index)
        } else {
            items[index] = .lost(AudioCaptureLoss(.late, count: block.frameCount, first: block.number, time: time))
        }
    }
}
