import Media
import Testing

@testable import Demuxing

/// When a broken connection is tried again.
@Suite struct RetryStateTests {
    @Test(arguments: [
        (0, 0.0, 0), (0, 1.0, 0), (1, 0.0, 250), (1, 1.0, 125), (2, 0.0, 500), (3, 0.5, 750), (6, 0.0, 8000), (7, 0.0, 8000), (7, 1.0, 4000),
        (1000, 0.0, 8000), (-1, 0.5, 0),
    ])
    func `the wait doubles up to eight seconds, and chance takes away at most half`(number: Int, chance: Double, milliseconds: Int64) {
        #expect(RetryState.delay(number, chance: chance) == .milliseconds(milliseconds))
    }

    @Test func `without a byte it ends at the timeout, and the last wait does not pass it`() {
        var state = RetryState(timeout: .seconds(2))
        func at(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: (100_000 + milliseconds) * 1_000_000) }
        state.begin(at: at(0))
        #expect(state.failed(at: at(0), chance: 0) == .wait(.milliseconds(0)))
        #expect(state.failed(at: at(0), chance: 0) == .wait(.milliseconds(250)))
        #expect(state.failed(at: at(300), chance: 0) == .wait(.milliseconds(500)))
        #expect(state.failed(at: at(1900), chance: 0) == .wait(.milliseconds(100)))
        #expect(state.failed(at: at(2000), chance: 0) == .giveUp)
        // Whoever wants bytes later, after a pause of the film, has all the time again.
        state.begin(at: at(9000))
        #expect(state.failed(at: at(9000), chance: 0) == .wait(.milliseconds(2000)))
    }

    @Test func `only a connection that brought something makes the next attempt an immediate one`() {
        var state = RetryState(timeout: .seconds(100))
        let now = HostTime(nanoseconds: 1)
        state.begin(at: now)
        for expected: Int64 in [0, 250, 500] {
            #expect(state.failed(at: now, chance: 0) == .wait(.milliseconds(expected)))
            state.received(100)
        }
        state.received(4000)
        #expect(state.failed(at: now, chance: 0) == .wait(.milliseconds(0)))
    }
}

/// The bytes that came last.
@Suite struct RecentBytesTests {
    @Test func `they are those of the film, as far back as they go`() {
        let film = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var recent = RecentBytes()
        for start in stride(from: 0, to: film.count, by: 7000) {
            let part = Array(film[start..<min(start + 7000, film.count)])
            unsafe part.withUnsafeBytes { unsafe recent.append($0, at: Int64(start)) }
        }
        func read(_ offset: Int64, _ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let got = unsafe bytes.withUnsafeMutableBytes { unsafe recent.copy(to: $0, from: offset) }
            return Array(bytes.prefix(got))
        }
        #expect(recent.end == Int64(film.count) && recent.count >= 65_536 && recent.count <= 131_072 + 7000)
        #expect(recent.last(100) == film.suffix(100))
        #expect(read(Int64(film.count - 65_536), 100) == film[(film.count - 65_536)...].prefix(100).map { $0 })
        #expect(read(Int64(film.count - 10), 100) == film.suffix(10))
        #expect(read(Int64(film.count), 1).isEmpty && read(0, 1).isEmpty)
        unsafe film[5..<9].withUnsafeBytes { unsafe recent.append($0, at: 5) }
        #expect(recent.count == 4 && read(6, 9) == Array(film[6..<9]))
    }
}
