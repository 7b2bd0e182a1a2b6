import Media
import Testing

@Suite struct HostTimeTests {
    private static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test(arguments: extremes, extremes)
    func `a time and a span make the exact time, or the nearest one that there is`(time: Int64, span: Int64) {
        func nearest(_ exact: Int128) -> HostTime { HostTime(nanoseconds: Int64(clamping: exact)) }
        #expect(HostTime(nanoseconds: time) + .nanoseconds(span) == nearest(Int128(time) + Int128(span)))
        #expect(HostTime(nanoseconds: time) - .nanoseconds(span) == nearest(Int128(time) - Int128(span)))
        #expect((HostTime(nanoseconds: time) - HostTime(nanoseconds: span)).nanoseconds == Int64(clamping: Int128(time) - Int128(span)))
    }

    @Test(
        arguments: [
            (0, 0), (1.5, 1_500_000_000), (-0.25, -250_000_000), (1e-9, 1), (0.4e-9, 0), (.nan, 0), (-.nan, 0),
            (1e10, .max), (-1e10, .min), (.infinity, .max), (-.infinity, .min),
        ] as [(Double, Int64)])
    func `seconds become the nearest span, and what is no number becomes none`(seconds: Double, nanoseconds: Int64) {
        #expect(HostSpan.seconds(seconds).nanoseconds == nanoseconds)
    }
}
