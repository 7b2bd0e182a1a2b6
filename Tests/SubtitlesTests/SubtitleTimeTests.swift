import DisplaySink
import Media
import Subtitles
import Testing

/// Which lines are on, and what is drawn when.
@Suite struct SubtitleTimeTests {
    private static let spans: SubtitleSpans = {
        var spans = SubtitleSpans()
        for (start, end, isMoving) in [(1000, 2000, false), (500, 5000, false), (1500, 1600, true), (7000, 7000, false), (8000, 9000, false)] {
            spans.add(.init(start: Int64(start), end: Int64(end), isMoving: isMoving))
        }
        return spans
    }()

    @Test(
        arguments: [
            (0, false, 500), (499, false, 500), (500, true, 1000), (1000, true, 1500), (1499, true, 1500), (1500, true, 1501), (1599, true, 1600),
            (1600, true, 2000), (2000, true, 5000), (4999, true, 5000), (5000, false, 7000), (7000, false, 8000), (8999, true, 9000),
            (9000, false, Int64.max),
        ] as [(Int64, Bool, Int64)])
    func `an image stays until a line comes or goes, and a moving one a millisecond`(_ time: Int64, _ isOn: Bool, _ until: Int64) {
        let state = Self.spans.state(at: time)
        #expect(state.isOn == isOn && state.until == until)
    }

    @Test func `lines at once are counted`() {
        #expect(Self.spans.count(in: .init(start: 1550, end: 1551)) == 3)
        #expect(Self.spans.count(in: .init(start: 5000, end: 8000)) == 1)
        #expect(Self.spans.count(in: .init(start: 0, end: 10_000)) == 5)
    }

    private static func image() -> OverlayImage { OverlayImage(place: PixelRect(x: 0, y: 0, width: 1, height: 1), pixels: [1]) }

    @Test func `the frame on the display is drawn for first, then those that come`() {
        var timeline = OverlayTimeline()
        #expect(timeline.next == nil)
        timeline.expect(40)
        timeline.expect(80)
        #expect(timeline.next == 40)
        let nothing = timeline.image(at: 0)
        #expect(nothing == nil && timeline.next == 0)
        let first = Self.image(), second = Self.image()
        let isAsked = timeline.add(.init(from: 0, until: 80, image: first))
        #expect(isAsked)
        #expect(timeline.next == 80 && timeline.isDrawn(at: 79) && !timeline.isDrawn(at: 80))
        let isAskedToo = timeline.add(.init(from: 80, until: 120, image: second))
        #expect(!isAskedToo && timeline.next == nil)
        let answers = [timeline.image(at: 40), timeline.image(at: 80)]
        #expect(answers[0] === first && answers[1] === second && timeline.next == nil)
    }

    @Test func `an image stays until the next one is drawn`() {
        var timeline = OverlayTimeline()
        let image = Self.image()
        _ = timeline.add(.init(from: 0, until: 100, image: image))
        let answers = [timeline.image(at: 99), timeline.image(at: 100)]
        #expect(answers[0] === image && answers[1] === image && timeline.next == 100)
        timeline.add(.init(from: 100, until: 200, image: nil))
        let nothing = timeline.image(at: 100)
        #expect(nothing == nil)
        timeline.forgetImages()
        #expect(timeline.next == 100 && !timeline.isDrawn(at: 100))
    }

    @Test func `a new line makes what it touches be drawn again`() {
        var timeline = OverlayTimeline()
        for time in stride(from: Int64(0), to: 300, by: 100) { _ = timeline.add(.init(from: time, until: time + 100, image: nil)) }
        timeline.forget(from: 100, to: 150)
        #expect([0, 99, 100, 199, 200].map { timeline.isDrawn(at: $0) } == [true, true, false, false, true])
        timeline.expect(250)
        timeline.forgetFrames()
        timeline.forgetImages()
        #expect(timeline.next == nil, "frames of before a seek are not drawn for")
    }
}
