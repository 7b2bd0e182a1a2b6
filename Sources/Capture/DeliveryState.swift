package import Media

/// What waits for a program between a camera and its handler, and the count of it.
package struct DeliveryState<Frame: Sendable>: DeliveryWaiting {
    /// One thing for the program.
    package enum Item: Sendable {
        case frame(Frame, number: UInt64, time: HostTime)
        case drop(CaptureDrop)
        case end(CaptureError?)
    }

    /// Whether only the newest frame waits.
    package var discardsLate: Bool
    package private(set) var items: [Item] = []
    package private(set) var statistics = CaptureStatistics()
    /// Whether frames come through.
    package private(set) var isEnabled = true
    /// What has not come through, until it can be told.
    private var unheard: CaptureDrop?
    /// A handler runs or will run.
    private var isScheduled = false
    private var end: CaptureError?
    private var hasEnded = false

    package init(discardsLate: Bool) { self.discardsLate = discardsLate }

    /// Begins anew, with counters at 0.
    package mutating func begin() {
        items.removeAll(keepingCapacity: true)
        statistics = CaptureStatistics()
        unheard = nil
        hasEnded = false
        end = nil
    }

    /// A frame for the program. The frame that waited, which is too late now, is dropped, and returned so that the caller lets it go unlocked.
    package mutating func add(_ frame: Frame, number: UInt64, time: HostTime) -> Frame? {
        guard isEnabled else {
            leaveOut(CaptureDrop(.switchedOff, first: number, time: time))
            return frame
        }
        var late: Frame?
        if discardsLate, let index = items.lastIndex(where: \.isFrame), case .frame(let waiting, let itsNumber, let itsTime) = items[index] {
            late = waiting
            statistics.waiting -= 1
            statistics.dropped[.late, default: 0] += 1
            items.remove(at: index)
            insert(CaptureDrop(.late, first: itsNumber, time: itsTime), at: index)
        }
        statistics.waiting += 1
        items.append(.frame(frame, number: number, time: time))
        return late
    }

    /// Frames that the program does not get.
    package mutating func add(_ drop: CaptureDrop) {
        tellUnheard()
        statistics.dropped[drop.reason, default: 0] += drop.count
        if drop.count == 0 { statistics.restarts += 1 }
        insert(drop, at: items.count)
    }

    /// The frame or the drop that comes next has the driver's number of the one before.
    package mutating func noteRepeat() { statistics.repeated += 1 }

    /// Nothing follows.
    package mutating func finish(_ error: CaptureError?) {
        guard !hasEnded else { return }
        tellUnheard()
        hasEnded = true
        end = error
        items.append(.end(error))
    }

    /// Switches the connection on or off. The frames that waited are returned so that the caller lets them go unlocked.
    package mutating func enable(_ isWanted: Bool) -> [Frame] {
        guard isWanted != isEnabled else { return [] }
        isEnabled = isWanted
        if isWanted {
            tellUnheard()
            return []
        }
        var frames: [Frame] = []
        let waiting = items
        items = []
        for item in waiting {
            guard case .frame(let frame, let number, let time) = item else {
                items.append(item)
                continue
            }
            frames.append(frame)
            statistics.dropped[.switchedOff, default: 0] += 1
            insert(CaptureDrop(.switchedOff, first: number, time: time), at: items.count)
        }
        statistics.waiting = 0
        return frames
    }

    private mutating func leaveOut(_ drop: CaptureDrop) {
        statistics.dropped[.switchedOff, default: 0] += 1
        if let before = unheard, before.first + UInt64(before.count) != drop.first { tellUnheard() }
        unheard = CaptureDrop(.switchedOff, count: (unheard?.count ?? 0) + 1, first: unheard?.first ?? drop.first, time: drop.time)
    }

    private mutating func tellUnheard() {
        if let drop = unheard { insert(drop, at: items.count) }
        unheard = nil
    }

    /// Whether the caller must call a handler: something waits and none runs.
    package mutating func schedule() -> Bool {
        guard !isScheduled, !items.isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// The oldest thing; nil when there is none, and the handler ends.
    package mutating func take() -> Item? {
        guard !items.isEmpty else {
            isScheduled = false
            return nil
        }
        let item = items.removeFirst()
        if case .frame = item {
            statistics.waiting -= 1
            statistics.delivered += 1
        }
        return item
    }

    /// As `take`, and the end again and again.
    package mutating func pull() -> Item? { take() ?? (hasEnded ? .end(end) : nil) }

    /// A report for neighbours with the same reason: a program that sleeps for an hour gets one, not a hundred thousand.
    private mutating func insert(_ drop: CaptureDrop, at index: Int) {
        if index > 0, case .drop(var before) = items[index - 1], before.reason == drop.reason, drop.count > 0, before.count > 0,
            before.first + UInt64(before.count) == drop.first
        {
            before.count += drop.count
            before.time = drop.time
            items[index - 1] = .drop(before)
        } else {
            items.insert(.drop(drop), at: index)
        }
    }
}

extension DeliveryState.Item {
    var isFrame: Bool { if case .frame = self { true } else { false } }
}
