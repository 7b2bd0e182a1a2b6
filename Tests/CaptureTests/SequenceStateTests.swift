import Capture
import Media
import TestSupport
import Testing

@Suite("The driver's count of frames") struct SequenceStateTests {
    private let now = HostTime(nanoseconds: 5_000_000_000)

    @Test("begins anywhere and goes on")
    func steady() {
        var state = SequenceState()
        for (index, sequence) in (UInt32(17)..<20).enumerated() {
            let receipt1 = state.receive(sequence, at: now)
            #expect(receipt1 == .init(number: UInt64(index), missing: nil))
        }
    }

    @Test("goes on at a number, after a camera has returned")
    func numbered() {
        var state = SequenceState(next: 40)
        let first = state.receive(0, at: now), second = state.receive(2, at: now)
        #expect(first == .init(number: 40) && second.number == 42 && state.next == 43)
        #expect(second.missing == CaptureDrop(.discontinuity, count: 1, first: 41, time: now))
    }

    @Test("has gaps, which the driver made or the program, who held every buffer")
    func gaps() {
        var state = SequenceState()
        _ = state.receive(0, at: now)
        state.queued(3)
        let receipt2 = state.receive(4, at: now)
        #expect(receipt2 == .init(number: 4, missing: CaptureDrop(.discontinuity, count: 3, first: 1, time: now)))
        state.queued(1)
        state.queued(3)
        let receipt3 = state.receive(6, at: now)
        #expect(receipt3 == .init(number: 6, missing: CaptureDrop(.outOfBuffers, count: 1, first: 5, time: now)))
        // That was once.
        let third = state.receive(8, at: now)
        #expect(third.missing?.reason == .discontinuity)
    }

    @Test("wraps around after 32 bits")
    func wrapping() {
        var state = SequenceState()
        _ = state.receive(.max - 1, at: now)
        let receipt4 = state.receive(.max, at: now)
        #expect(receipt4 == .init(number: 1, missing: nil))
        let receipt5 = state.receive(0, at: now)
        #expect(receipt5 == .init(number: 2, missing: nil))
        let receipt6 = state.receive(3, at: now)
        #expect(receipt6 == .init(number: 5, missing: CaptureDrop(.discontinuity, count: 2, first: 3, time: now)))
    }

    @Test("may begin anew: how many are missing nobody knows", arguments: [UInt32(0), 99])
    func restarts(sequence: UInt32) {
        var state = SequenceState()
        _ = state.receive(100, at: now)
        let receipt7 = state.receive(sequence, at: now)
        #expect(receipt7 == .init(number: 1, missing: CaptureDrop(.discontinuity, count: 0, first: 1, time: now)))
        let receipt8 = state.receive(sequence + 1, at: now)
        #expect(receipt8 == .init(number: 2, missing: nil))
    }

    @Test(
        "may repeat numbers: what comes and what is missing are what the driver counted and what it repeated",
        arguments: [
            // What vivid does that needs more than half of a frame's time to draw it, and more than all of it.
            ([1, 1, 2, 2, 3], 0, 2), ([1, 1, 3, 3, 5, 6], 2, 2), ([1, 1, 1, 5, 5, 5, 9], 6, 4), ([7, 7, 7, 7], 0, 3), ([1, 4, 5], 2, 0),
            ([-2, -1, -1, 1, 1, 2], 1, 2),
        ])
    func repeats(sequences: [Int32], missing: Int, repeated: Int) {
        var state = SequenceState(), output = DeliveryState<UInt64>(discardsLate: true), expected: UInt64 = 0
        for sequence in sequences {
            let receipt = state.receive(UInt32(bitPattern: sequence), at: now)
            if receipt.isRepeat { output.noteRepeat() }
            if let drop = receipt.missing {
                #expect(drop.reason == .discontinuity && drop.count > 0 && drop.first == expected)
                output.add(drop)
            }
            expected += UInt64(receipt.missing?.count ?? 0)
            #expect(receipt.number == expected, "each has a number of its own")
            expected += 1
            _ = output.add(receipt.number, number: receipt.number, time: now)
        }
        let statistics = output.statistics, span = Int(sequences[sequences.count - 1] - sequences[0]) + 1
        #expect(statistics.dropped[.discontinuity] ?? 0 == missing && statistics.repeated == repeated && statistics.restarts == 0)
        #expect(statistics.counted == span + repeated && state.next == UInt64(span + repeated))
    }

    @Test(
        "comes with times that are believed where they can be true",
        arguments: [
            (Int64(4_980_000_000), true, Int64(4_980_000_000)), (4_980_000_000, false, 5_000_000_000), (5_000_000_001, true, 5_000_000_000),
            (-5_100_000_000, true, 5_000_000_000), (.min, true, 5_000_000_000), (.max, true, 5_000_000_000),
        ])
    func times(stamp: Int64, isMonotonic: Bool, expected: Int64) {
        var state = CaptureTimeState()
        #expect(state.time(stamp: stamp, isMonotonic: isMonotonic, arrival: now).nanoseconds == expected)
    }
}

@Suite("What waits for a program") struct DeliveryStateTests {
    private let now = HostTime(nanoseconds: 1)

    /// The numbers of frames, and of drops with their reasons.
    private func text(_ state: inout DeliveryState<Int>) -> [String] {
        var texts: [String] = []
        while let item = state.take() {
            switch item {
            case .frame(let frame, let number, _): texts.append("\(number):\(frame)")
            case .drop(let drop): texts.append("\(drop.reason.rawValue) \(drop.first)+\(drop.count)")
            case .end(let error): texts.append("end \(error?.description ?? "")")
            }
        }
        return texts
    }

    @Test("is the newest frame, and a report of those that it replaced")
    func newest() {
        var state = DeliveryState<Int>(discardsLate: true)
        let late = [state.add(10, number: 0, time: now)]
        #expect(late == [nil])
        let calls = [state.schedule(), state.schedule()]
        #expect(calls == [true, false], "a handler runs already")
        let later = [state.add(11, number: 1, time: now), state.add(12, number: 2, time: now)]
        #expect(later == [10, 11])
        state.add(CaptureDrop(.discontinuity, count: 2, first: 3, time: now))
        _ = state.add(15, number: 5, time: now)
        let texts = text(&state), isIdle = !state.schedule()
        #expect(texts == ["late 0+3", "discontinuity 3+2", "5:15"] && isIdle)
        _ = state.add(16, number: 6, time: now)
        let isCalled = state.schedule()
        #expect(isCalled)
    }

    @Test("is every frame where none is to be left out, in order with the reports")
    func all() {
        var state = DeliveryState<Int>(discardsLate: false)
        let late = (0..<3).map { state.add($0, number: UInt64($0), time: now) }
        #expect(late == [nil, nil, nil])
        state.add(CaptureDrop(.outOfBuffers, count: 4, first: 3, time: now))
        state.add(CaptureDrop(.outOfBuffers, count: 1, first: 7, time: now))
        state.add(CaptureDrop(.damaged, first: 8, time: now))
        _ = state.add(9, number: 9, time: now)
        state.finish(CaptureError(.unplugged, "gone"))
        state.finish(nil)
        let texts = text(&state)
        #expect(texts == ["0:0", "1:1", "2:2", "out-of-buffers 3+5", "damaged 8+1", "9:9", "end gone"])
        #expect(state.statistics.counted == 10)
    }

    @Test("does not come through a connection that is switched off, and is told when it is on again")
    func switchedOff() {
        var state = DeliveryState<Int>(discardsLate: false)
        for number in 0..<2 { _ = state.add(number, number: UInt64(number), time: now) }
        let waited = state.enable(false)
        #expect(waited == [0, 1] && state.statistics.waiting == 0)
        for number in 2..<5 { #expect(state.add(number, number: UInt64(number), time: now) == number, "to be let go unlocked") }
        let before = text(&state)
        #expect(before == ["switched-off 0+2"])
        state.add(CaptureDrop(.discontinuity, count: 2, first: 5, time: now))
        _ = state.add(7, number: 7, time: now)
        _ = state.enable(true)
        _ = state.add(8, number: 8, time: now)
        let after = text(&state)
        #expect(after == ["switched-off 2+3", "discontinuity 5+2", "switched-off 7+1", "8:8"])
        #expect(state.statistics.dropped == [.switchedOff: 6, .discontinuity: 2] && state.statistics.counted == 9)
    }

    @Test("ends again and again for who asks")
    func end() {
        var state = DeliveryState<Int>(discardsLate: true)
        let nothing = state.pull()
        #expect(nothing == nil)
        state.finish(nil)
        for _ in 0..<3 {
            guard case .end(nil) = state.pull() else {
                Issue.record("no end")
                return
            }
        }
        state.begin()
        let anew = state.pull()
        #expect(anew == nil)
    }

    @Test("counts every frame once, whatever happens")
    func account() {
        var dice = Dice(seed: 17)
        for _ in 0..<TestExtent.rounds(200, full: 20_000, sanitized: 50) {
            var state = DeliveryState<UInt64>(discardsLate: dice.roll(2) == 0)
            var driver = SequenceState(), sequence = UInt32(truncatingIfNeeded: dice.next()), counted = 0, taken = 0, lost = 0
            for step in 0..<60 {
                let gap = step > 0 && dice.roll(4) == 0 ? UInt32(dice.roll(9)) : 0
                sequence = sequence &+ 1 &+ gap
                counted += 1 + Int(gap)
                driver.queued(dice.roll(4))
                let receipt = driver.receive(sequence, at: now)
                if let missing = receipt.missing { state.add(missing) }
                switch dice.roll(5) {
                case 0: state.add(CaptureDrop(.damaged, first: receipt.number, time: now))
                default: _ = state.add(receipt.number, number: receipt.number, time: now)
                }
                if dice.roll(8) == 0 { _ = state.enable(!state.isEnabled) }
                if dice.roll(3) == 0 {
                    var next: UInt64?
                    while let item = state.take() {
                        switch item {
                        case .frame(let frame, let number, _):
                            taken += 1
                            #expect(frame == number && next == nil || next == number)
                            next = number + 1
                        case .drop(let drop):
                            lost += drop.count
                            #expect(next == nil || next == drop.first, "in order, without a hole")
                            next = drop.first + UInt64(drop.count)
                        case .end: break
                        }
                    }
                }
                #expect(state.statistics.counted == counted && receipt.number + 1 == UInt64(counted))
            }
            _ = state.enable(true)
            while let item = state.take() { if case .frame = item { taken += 1 } else if case .drop(let drop) = item { lost += drop.count } }
            #expect(taken + lost == counted)
            #expect(state.statistics.delivered == taken && state.statistics.waiting == 0)
        }
    }
}

extension Dice {
    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
