import Testing

@testable import Subtitles

/// What is on where a part of a film has been read, and where it has not.
@Suite struct CaptionScreensTests {
    private static func text(_ words: String) -> [UInt8] { Array("0,0,Default,,0,0,0,,\(words)".utf8) }

    /// Reads a sample, which shows these words from now on where they are not nil.
    private static func read(_ screens: inout CaptionScreens, _ time: Int64, _ words: String? = nil) {
        guard screens.reach(time).isNews, let words else { return }
        screens.add(.init(start: time, text: text(words)))
    }

    private static func shown(_ screens: CaptionScreens, _ time: Int64) -> String? {
        screens.state(at: time).screen.map { String(decoding: $0.text.dropFirst(Self.text("").count), as: UTF8.self) }
    }

    /// From `start` to `end`, in steps of 500 ms, with words at some times.
    private static func read(_ screens: inout CaptionScreens, _ start: Int64, _ end: Int64, _ words: [Int64: String]) {
        for time in stride(from: start, through: end, by: 500) { read(&screens, time, words[time]) }
    }

    private static let film: [Int64: String] = [1000: "one", 3000: "", 4000: "two", 9000: ""]

    @Test func `each screen stays until the next`() {
        var screens = CaptionScreens()
        Self.read(&screens, 0, 10_000, Self.film)
        let expected: [(Int64, String?, Int64)] = [
            (0, nil, 1000), (999, nil, 1000), (1000, "one", 3000), (2999, "one", 3000), (3000, nil, 4000), (4000, "two", 9000), (8999, "two", 9000),
            (9000, nil, .max), (-1, nil, 0),
        ]
        for (time, words, until) in expected { #expect(Self.shown(screens, time) == words && screens.state(at: time).until == until, "\(time)") }
    }

    @Test func `after a seek nothing is on until the next change, but what was read before is known`() {
        var screens = CaptionScreens()
        Self.read(&screens, 6000, 10_000, Self.film)
        #expect(Self.shown(screens, 7000) == nil, "the decoder does not know of the screen that began before")
        screens.seek()
        Self.read(&screens, 0, 5000, Self.film)
        #expect(Self.shown(screens, 2000) == "one" && Self.shown(screens, 4500) == "two")
        #expect(Self.shown(screens, 7000) == nil, "between the parts nothing is known")
        Self.read(&screens, 5500, 7000, Self.film)
        #expect(Self.shown(screens, 7000) == "two", "the parts have met")
        #expect(Self.shown(screens, 9500) == nil)
        screens.seek()
        Self.read(&screens, 4500, 5000, [4500: "half a screen"])
        #expect(Self.shown(screens, 4500) == "two" && Self.shown(screens, 8000) == "two", "what was read first stays")
    }

    @Test func `behind a part that was read before, what is read is news`() {
        var screens = CaptionScreens()
        Self.read(&screens, 0, 2000, Self.film)
        screens.seek()
        #expect(Self.shown(screens, 3900) == "one" && screens.state(at: 2500).until == 4001, "captions come every two seconds at least")
        #expect(Self.shown(screens, 4001) == nil)
        Self.read(&screens, 500, 5000, Self.film)
        #expect(Self.shown(screens, 2500) == "one" && Self.shown(screens, 3500) == nil && Self.shown(screens, 4500) == "two")
    }

    @Test func `a screen is not taken to last over what a seek has passed over`() {
        var screens = CaptionScreens()
        Self.read(&screens, 0, 2000, Self.film)
        screens.seek()
        Self.read(&screens, 3500, 5000, [:])
        #expect(Self.shown(screens, 3500) == nil && Self.shown(screens, 5000) == nil && Self.shown(screens, 2000) == "one")
    }

    @Test func `it is told from when on something else is shown`() {
        var screens = CaptionScreens()
        #expect(screens.reach(5000) == (true, 5000), "nothing, as far as is known")
        #expect(screens.reach(5500) == (true, nil) && screens.reach(5500) == (true, nil))
        screens.seek()
        #expect(screens.reach(4000) == (true, 4000) && screens.reach(4900) == (true, nil))
        #expect(screens.reach(5000) == (false, 5000), "the parts have met")
        #expect(screens.reach(5200) == (false, nil) && screens.reach(6000) == (true, nil))
        screens.seek()
        #expect(screens.reach(4500) == (false, 6000))
    }

    @Test func `a part far behind begins without a screen`() {
        var screens = CaptionScreens()
        Self.read(&screens, 0, 2000, Self.film)
        Self.read(&screens, 60_000, 61_000, [:])
        #expect(Self.shown(screens, 60_500) == nil && Self.shown(screens, 1500) == "one")
    }

    @Test func `of too many screens those far away go, and nothing is known there`() {
        var screens = CaptionScreens(most: 100)
        let count: Int64 = 101
        for time in 0..<count { Self.read(&screens, time, "\(time)") }
        let gone = count / 10
        #expect(Self.shown(screens, gone - 1) == nil && Self.shown(screens, gone) == "\(gone)" && Self.shown(screens, count - 1) == "\(count - 1)")
        // Read again, they are there; the end goes.
        screens.seek()
        for time in 0..<gone { Self.read(&screens, time, "\(time)") }
        #expect(Self.shown(screens, 5) == "5" && Self.shown(screens, gone) == "\(gone)")
        #expect(Self.shown(screens, count - 1) == "\(count - gone - 1)", "the last one that is known")
    }
}
