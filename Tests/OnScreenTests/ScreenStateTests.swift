import Media
import OnScreen
import Testing

/// What is shown when, without a display and without a clock.
@Suite struct ScreenStateTests {
    private static let start = HostTime(nanoseconds: 1_000_000_000)
    private static func after(_ milliseconds: Int64) -> HostTime { start + .milliseconds(milliseconds) }
    private static var film: ScreenState.Film {
        ScreenState.Film(bar: { ScreenBar(isPlaying: true, position: 65, duration: 130) }, page: { [ScreenContent.Line("File", "a")] })
    }
    /// What is shown must not be asked for while nothing is.
    private static var forbidden: ScreenState.Film {
        ScreenState.Film {
            Issue.record("asked for the bar")
            return nil
        } page: {
            Issue.record("asked for the page")
            return []
        }
    }

    @Test func `while nothing is shown, nothing is asked of the film`() {
        var state = ScreenState()
        #expect(state.content(at: Self.start, Self.forbidden) == nil)
        state.say("a", at: Self.start)
        #expect(state.content(at: Self.start, Self.forbidden)?.message == "a")
    }

    @Test func `a message is seen for its time, and another one takes its place`() {
        var state = ScreenState(span: .milliseconds(1000))
        state.say("a", at: Self.start)
        #expect(state.content(at: Self.after(999), Self.film)?.message == "a")
        #expect(state.content(at: Self.after(1000), Self.film) == nil)
        state.say("b", for: .milliseconds(5000), at: Self.after(2000))
        state.say("c", at: Self.after(2100))
        #expect(state.content(at: Self.after(3099), Self.film)?.message == "c")
        #expect(state.content(at: Self.after(3100), Self.film) == nil)
    }

    /// The level, whether there is a bar, and what is seen of: nothing; a message; the bar; a text of another program; the pointer.
    @Test(
        arguments: [
            (0, true, "-", "-", "-", "x", "-"), (1, true, "-", "x", "bar", "x", "bar"), (1, false, "-", "x", "1:05 / 2:10 (50%)", "x", "-"),
            (2, true, "1:05", "1:05|x", "1:05 bar", "1:05|x", "1:05 bar"),
            (3, true, "1:05 / 2:10 (50%)", "1:05 / 2:10 (50%)|x", "1:05 / 2:10 (50%) bar", "1:05 / 2:10 (50%)|x", "1:05 / 2:10 (50%) bar"),
        ])
    func `levels`(_ level: Int, _ hasBar: Bool, _ nothing: String, _ message: String, _ bar: String, _ text: String, _ pointer: String) {
        let acts: [(String, (inout ScreenState) -> Void)] = [
            (nothing, { _ in }), (message, { $0.say("x", at: Self.start) }), (bar, { $0.showBar(at: Self.start) }),
            (text, { $0.say("x", fromLevel: 0, at: Self.start) }), (pointer, { $0.point(at: Self.start) }),
        ]
        for (expected, act) in acts {
            var state = ScreenState(level: level, hasBar: hasBar)
            act(&state)
            let content = state.content(at: Self.after(10), Self.film)
            let seen = [content?.message?.replacing("\n", with: "|"), content?.bar == nil ? nil : "bar"].compactMap(\.self)
            #expect((seen.isEmpty ? "-" : seen.joined(separator: " ")) == expected)
        }
    }

    @Test func `the bar stays as long as the pointer is seen, and a seek does not shorten that`() {
        var state = ScreenState()
        state.point(at: Self.start)
        state.showBar(at: Self.after(100))
        #expect(state.content(at: Self.after(1999), Self.film)?.bar != nil)
        #expect(state.content(at: Self.after(2000), Self.film) == nil)
        // Nor does the pointer shorten what lasts longer.
        var other = ScreenState(span: .seconds(5))
        other.showBar(at: Self.start)
        other.point(at: Self.after(100))
        #expect(other.content(at: Self.after(4999), Self.film)?.bar != nil && other.content(at: Self.after(5000), Self.film) == nil)
    }

    @Test func `the page goes by itself, or stays until it is closed, and changes once a second`() {
        var state = ScreenState(), count = 0
        let film = ScreenState.Film(
            bar: { nil },
            page: {
                count += 1
                return [ScreenContent.Line("n", "\(count)")]
            })
        state.showPage(at: Self.start)
        for time in stride(from: Int64(0), to: 4000, by: 100) { #expect(state.content(at: Self.after(time), film)?.page.isEmpty == false) }
        #expect(count == 4 && state.content(at: Self.after(4000), film) == nil)
        state.togglePage()
        #expect(state.content(at: Self.after(60_000), film)?.page.first?.text == "5")
        state.togglePage()
        #expect(state.content(at: Self.after(60_001), film) == nil)
    }

    @Test func `a film without an end tells its position only`() {
        #expect(ScreenState.status(ScreenBar(isPlaying: false, position: 3725, duration: nil), isLong: true) == "(Paused) 1:02:05")
        #expect(ScreenState.status(ScreenBar(isPlaying: true, position: .nan, duration: .infinity), isLong: true).hasPrefix("0:00 / "))
    }
}
