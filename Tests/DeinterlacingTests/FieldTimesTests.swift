import Media
import SurfacePool
import Testing

@testable import Deinterlacing

@Suite struct FieldTimesTests {
    private static func time(_ word: Substring) -> MediaTime {
        word == "-" ? .invalid : MediaTime(value: Int64(word)!, timescale: 50_000)
    }

    /// Time, duration and next time in units of 1/50,000 s, then both times and durations.
    static let rows = [
        "0 2000 2000 0 1000 1000 1000",
        // Without a duration the next frame tells it, and without a next frame the duration.
        "4000 - 6000 4000 5000 1000 1000", "4000 2000 - 4000 5000 1000 1000",
        // Frames that are shown longer than they say.
        "0 2000 3000 0 1500 1500 1500",
        // Behind a gap, and before an earlier time, the duration counts.
        "0 2000 90000 0 1000 1000 1000", "4000 2000 1000 4000 5000 1000 1000",
        // 29.97 frames a second by 1/30000 s are halves of 1001.
        "7 1001 1008 7 507.5 500.5 500.5",
    ]

    @Test(arguments: rows) func `the second field comes in the middle`(_ row: String) {
        let words = row.split(separator: " ")
        func doubled(_ word: Substring) -> MediaTime { MediaTime(value: Int64(Double(word)! * 2), timescale: 100_000) }
        let next = words[2] == "-" ? nil : Self.time(words[2])
        let times = FieldTimes(of: Self.time(words[0]), duration: Self.time(words[1]), next: next)
        #expect(times.first == doubled(words[3]) && times.second == doubled(words[4]))
        #expect(times.firstDuration == doubled(words[5]) && times.secondDuration == doubled(words[6]))
    }

    @Test func `nothing is known of a lone frame`() {
        let times = FieldTimes(of: .zero, duration: .invalid, next: nil)
        #expect(times.first == .zero && times.second == .zero && !times.firstDuration.isNumeric)
    }
}

/// What passes, and when.
@Suite struct DeinterlacingSessionTests {
    private static func frame(_ number: Int, _ flags: VideoFrame.Flags, _ pool: SurfacePool) throws -> VideoFrame {
        let writer = try pool.acquire()!
        unsafe writer.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: index + number) }
        }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(PixelSize(width: 64, height: 48)),
            presentationTime: MediaTime(value: Int64(number), timescale: 25), duration: MediaTime(value: 1, timescale: 25), flags: flags,
            sequence: UInt64(number), sampleNumber: UInt64(number))
    }

    private static func pool() -> SurfacePool {
        SurfacePool(
            layout: SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 48)), allocator: MemfdAllocator(), maximumCount: 8)
    }

    /// The times of the frames that come out, in fiftieths of a second, after each that goes in; `p` is progressive, `i` interlaced.
    @Test(arguments: [
        (Deinterlacing.auto, "ppp", "0;2;4;"), (.auto, "iii", ";0,1;2,3;4,5"), (.auto, "pii", "0;;2,3;4,5"), (.auto, "iip", ";0,1;2,3;4"),
        (.yes, "ppp", ";0,1;2,3;4,5"), (.no, "iii", "0;2;4;"),
    ])
    func `times`(_ mode: Deinterlacing, _ kinds: String, _ expected: String) throws {
        let pool = Self.pool(), session = DeinterlacingSession(mode)
        var parts: [String] = [], sequences: [UInt64] = []
        for (number, kind) in kinds.enumerated() {
            var times: [String] = []
            session.pass(try Self.frame(number, kind == "i" ? [.interlaced, .topFieldFirst] : [], pool)) { frame in
                times.append("\(frame.presentationTime.converted(to: 50).value)")
                sequences.append(frame.sequence)
            }
            parts.append(times.joined(separator: ","))
        }
        var rest: [String] = []
        session.finish { frame in
            rest.append("\(frame.presentationTime.converted(to: 50).value)")
            sequences.append(frame.sequence)
        }
        #expect((parts + [rest.joined(separator: ",")]).joined(separator: ";") == expected)
        #expect(session.failure == nil)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
        #expect(pool.statistics.inUse == 0, "the filter has let go of every frame")
    }

    @Test func `after a flush nothing comes of what went in before`() throws {
        let pool = Self.pool(), session = DeinterlacingSession(.auto)
        session.pass(try Self.frame(0, .interlaced, pool)) { _ in Issue.record("it waits for the next one") }
        session.flush()
        #expect(pool.statistics.inUse == 0)
        var times: [Int64] = []
        for number in 5...6 { session.pass(try Self.frame(number, .interlaced, pool)) { times.append($0.presentationTime.converted(to: 50).value) } }
        #expect(times == [10, 11])
    }
}
