import Media
import Recording
import TestSupport
import Testing

@Suite("The time of a recording") struct RecordingTimeStateTests {
    private static func at(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: 9_000_000_000 + milliseconds * 1_000_000) }

    /// What happens, at a time in ms.
    enum Event: Sendable {
        case frame(Int64), pause(Int64), resume(Int64), settle(Int64)
    }

    /// `12: 0 paused@40` for a frame of 12 ms that is at 0, after a pause began at 40; `-` for one that is not in the film.
    private static func dump(_ events: [Event]) -> [String] {
        var state = RecordingTimeState(), lines: [String] = []
        func ms(_ time: MediaTime) -> Int64 { (time.nanoseconds() ?? -1) / 1_000_000 }
        func words(_ changes: [RecordingTimeState.Change]) -> String {
            changes.map { change in
                switch change {
                case .paused(let time): " paused@\(ms(time))"
                case .resumed(let time): " resumed@\(ms(time))"
                }
            }.joined()
        }
        for event in events {
            switch event {
            case .pause(let time): state.pause(at: at(time))
            case .resume(let time): state.resume(at: at(time))
            case .settle(let time):
                let changes = state.settle(until: at(time))
                if !changes.isEmpty { lines.append("settled:" + words(changes)) }
            case .frame(let time):
                let (place, changes) = state.frame(at: at(time))
                let position = if case .film(let film) = place { "\(ms(film))" } else { "-" }
                lines.append("\(time): \(position)\(words(changes))")
            }
        }
        return lines
    }

    private static let cases: [(events: [Event], expected: [String])] = {
        var cases: [([Event], [String])] = []
        func add(_ events: [Event], _ expected: String...) { cases.append((events, expected)) }
        add([.frame(5), .frame(45)], "5: 0", "45: 40")
        // Ordered between two frames: the next one is the first that is left out, and its distance the one that the film has there.
        add(
            [.frame(0), .frame(40), .pause(50), .frame(80), .frame(120), .resume(130), .frame(160), .frame(200)],
            "0: 0", "40: 40", "80: - paused@80", "120: -", "160: 80 resumed@80", "200: 120")
        // A frame that was captured before the order comes after it.
        add([.frame(0), .pause(50), .frame(40), .frame(80)], "0: 0", "40: 40", "80: - paused@80")
        // Ordered and taken back between two frames: as if nothing had been.
        add([.frame(0), .pause(10), .resume(20), .frame(40)], "0: 0", "40: 40 paused@40 resumed@40")
        // Twice is once.
        add(
            [.frame(0), .pause(10), .pause(20), .frame(40), .resume(90), .resume(95), .frame(120)], "0: 0", "40: - paused@40",
            "120: 40 resumed@40")
        // Paused before the first frame: the film begins with the first after that.
        add([.pause(0), .frame(40), .resume(50), .frame(80), .frame(120)], "40: -", "80: 0", "120: 40")
        // No frame comes, and the orders take effect when they were given.
        add(
            [.frame(0), .pause(100), .settle(99), .settle(1100), .resume(2100), .frame(2140)], "0: 0", "settled: paused@100",
            "2140: 100 resumed@100")
        add([.frame(0), .pause(100), .resume(300), .settle(1300), .frame(1500)], "0: 0", "settled: paused@100 resumed@100", "1500: 1300")
        return cases
    }()

    @Test("goes on after a pause where it stopped, in the camera's rhythm", arguments: cases)
    func pauses(events: [Event], expected: [String]) {
        #expect(Self.dump(events) == expected)
    }

    @Test("cuts sound where its frames are cut, and waits while that is not known")
    func sound() {
        var state = RecordingTimeState()
        #expect(state.parts(from: Self.at(0), to: Self.at(20)) == nil, "nobody knows when the film begins")
        _ = state.frame(at: Self.at(10))
        func parts(_ start: Int64, _ end: Int64) -> [RecordingTimeState.Part]? { state.parts(from: Self.at(start), to: Self.at(end)) }
        #expect(parts(-20, 0) == [] && parts(0, 20) == [.init(stretch: 0, end: Self.at(20))])
        state.pause(at: Self.at(60))
        #expect(parts(40, 60) == [.init(stretch: 0, end: Self.at(60))] && parts(50, 70) == nil)
        _ = state.frame(at: Self.at(90))
        #expect(parts(50, 70) == [.init(stretch: 0, end: Self.at(70))] && parts(80, 100) == [.init(stretch: 0, end: Self.at(90))])
        #expect(parts(90, 110) == [])
        state.resume(at: Self.at(95))
        #expect(parts(80, 100) == nil)
        _ = state.frame(at: Self.at(130))
        #expect(parts(120, 140) == [.init(stretch: 1, end: Self.at(140))])
        // A block that is longer than the pause.
        #expect(parts(80, 140) == [.init(stretch: 0, end: Self.at(90)), .init(stretch: 1, end: Self.at(140))])
        #expect(state.stretches[1].origin == Self.at(50), "the film is 40 ms shorter than what passed")
        #expect(state.length(at: Self.at(100)) == MediaTime(value: 80, timescale: 1000))
    }

    @Test("never goes back, and is as long as what was recorded, whatever is ordered when", arguments: 1...40)
    func storm(seed: Int) throws {
        var dice = Dice(seed: UInt64(seed)), state = RecordingTimeState()
        var last = MediaTime.negativeInfinity, previous: HostTime?, sum: Int64 = 0, isIn = false, orders: [HostTime] = []
        for number in 0..<400 {
            let time = Self.at(Int64(number) * 33 + Int64.random(in: -5...5, using: &dice))
            if Int.random(in: 0..<9, using: &dice) == 0 {
                let order = time - .milliseconds(Int64.random(in: 0...20, using: &dice))
                orders.append(order)
                if state.isPausing { state.resume(at: order) } else { state.pause(at: order) }
            }
            let (place, changes) = state.frame(at: time)
            // The film grows by what passed since the frame before, if that one was in it.
            if isIn, let previous { sum += (time - previous).nanoseconds }
            if case .film(let position) = place {
                #expect(position > last && position.nanoseconds() == sum, "\(number)")
                last = position
                isIn = true
            } else {
                isIn = false
            }
            #expect(changes.count <= 2)
            previous = time
        }
        #expect(last.isNumeric && !orders.isEmpty)
    }
}
