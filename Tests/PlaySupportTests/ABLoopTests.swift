import Media
import Testing

@testable import PlaySupport

/// The part of a film that is repeated, and the names of screenshots.
@Suite struct ABLoopTests {
    private static func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds) }

    /// Marks, then positions in a row with the number of the newest seek; the last column says where playback goes from the last one.
    @Test(
        arguments: [
            (1.0, 3.0, [(2.9, 0), (3.0, 0)], 1.0), (3.0, 1.0, [(2.9, 0), (3.2, 0)], 1.0), (1.0, 3.0, [(2.0, 0), (2.9, 0)], nil),
            // The viewer seeks beyond the end, and plays on there.
            (1.0, 3.0, [(2.0, 0), (5.0, 1)], nil), (1.0, 3.0, [(2.0, 0), (5.0, 1), (5.1, 1)], nil), (1.0, 3.0, [(3.0, 0)], nil),
            (1.0, 3.0, [(0.0, 0), (1.0, 0), (3.0, 0)], 1.0), (1.0, nil, [(2.0, 0), (9.0, 0)], nil), (nil, 3.0, [(2.0, 0), (9.0, 0)], nil),
            (2.0, 2.0, [(1.0, 0), (2.0, 0)], nil),
        ] as [(Double?, Double?, [(Double, UInt64)], Double?)])
    func `only playback that passes the end goes back`(_ a: Double?, _ b: Double?, _ steps: [(position: Double, seek: UInt64)], _ expected: Double?) {
        var loop = ABLoop(a: a.map(Self.time), b: b.map(Self.time)), target: MediaTime?
        for step in steps { target = loop.step(at: Self.time(step.position), seek: step.seek) }
        #expect(target == expected.map(Self.time))
    }

    @Test func `a key sets one mark, then the other, then takes them away`() {
        var loop = ABLoop()
        loop.mark(at: Self.time(5))
        #expect(loop == ABLoop(a: Self.time(5)))
        loop.mark(at: Self.time(2))
        #expect(loop == ABLoop(a: Self.time(5), b: Self.time(2)))
        #expect(loop.wait(at: Self.time(4.5), rate: 2) == .milliseconds(250))
        #expect(
            loop.wait(at: Self.time(1), rate: 1) == nil && loop.wait(at: Self.time(4.5), rate: 0) == nil
                && loop.wait(at: Self.time(6), rate: 1) == nil)
        loop.mark(at: Self.time(3))
        #expect(loop == ABLoop())
    }

    @Test(arguments: [
        ("scanout-shot%n", "scanout-shot0007"), ("%02n-%F", "07-a.b"), ("%f@%p", "a.b.mkv@01:01:01-0007"), ("100%%%n", "100%0007"),
        ("%P_%n", "01:01:01.500_0007"),
        ("%", nil), ("%x", nil), ("", nil), ("%0n", nil), ("%3f", nil), ("plain", "plain-0007"),
    ])
    func `screenshots are named`(_ template: String, _ expected: String?) {
        #expect(ScreenshotName(template: template)?.text(number: 7, film: "/films/a.b.mkv", time: Self.time(3661.5)) == expected)
    }
}
