import DisplaySink
import KMSSink
import Media
import Testing

@Suite struct ModeSelectionTests {
    static let hd = PixelSize(width: 1920, height: 1080)
    static let film = PixelSize(width: 1280, height: 720)

    /// As a television lists them: clock in kHz, totals, preferred first.
    static let television: [DisplayMode] = [
        DisplayMode(size: hd, clock: 148_500, horizontalTotal: 2200, verticalTotal: 1125, isPreferred: true),
        DisplayMode(size: hd, clock: 148_352, horizontalTotal: 2200, verticalTotal: 1125),
        DisplayMode(size: hd, clock: 148_500, horizontalTotal: 2640, verticalTotal: 1125),
        DisplayMode(size: hd, clock: 74_250, horizontalTotal: 2750, verticalTotal: 1125),
        DisplayMode(size: hd, clock: 74_176, horizontalTotal: 2750, verticalTotal: 1125),
        DisplayMode(size: hd, clock: 74_250, horizontalTotal: 2640, verticalTotal: 1125, isInterlaced: true),
        DisplayMode(size: film, clock: 74_250, horizontalTotal: 1650, verticalTotal: 750),
    ]
    static let names = ["1920x1080@60", "1920x1080@59.94", "1920x1080@50", "1920x1080@24", "1920x1080@23.976", "1920x1080@50i", "1280x720@60"]

    @Test func `refresh rates are exact`() {
        #expect(Self.television[0].refresh == Ratio(60, 1))
        #expect(Self.television[1].refresh == Ratio(148_352, 2475))
        #expect(Self.television.map(\.description) == Self.names)
        #expect(Self.television[0].period == .nanoseconds(16_666_667))
        // A clock of 8K at 120 Hz, beyond what 32 bits hold in Hz.
        #expect(DisplayMode(size: Self.hd, clock: 4_752_000, horizontalTotal: 8800, verticalTotal: 4500).refresh == Ratio(120, 1))
        let odd = DisplayMode(size: Self.hd, clock: 4_294_967, horizontalTotal: 8803, verticalTotal: 4507)
        #expect(abs(odd.refresh.doubleValue - 4_294_967_000 / (8803.0 * 4507)) < 0.001)
    }

    @Test(
        arguments: [
            (Ratio(60, 1), Ratio(24000, 1001), nil), (Ratio(60, 1), Ratio(30, 1), 2), (Ratio(60, 1), Ratio(30000, 1001), nil),
            (Ratio(148_352, 2475), Ratio(30000, 1001), 2), (Ratio(120, 1), Ratio(24, 1), 5), (Ratio(50, 1), Ratio(25, 1), 2),
            (Ratio(24, 1), Ratio(48, 1), nil), (Ratio(60, 1), .unknown, nil),
        ] as [(Ratio, Ratio, Int?)])
    func `a multiple is whole or none`(refresh: Ratio, film: Ratio, count: Int?) {
        #expect(ModeSelection.multiple(refresh, of: film) == count)
    }

    /// What is set, the film's rate, the wish, and the mode chosen.
    @Test(
        arguments: [
            (nil, Ratio(24000, 1001), "auto", "1920x1080@23.976"), (nil, Ratio(24, 1), "auto", "1920x1080@24"),
            (nil, Ratio(25, 1), "auto", "1920x1080@50"), (nil, Ratio(30, 1), "auto", "1920x1080@60"),
            (nil, Ratio(30000, 1001), "auto", "1920x1080@59.94"), (nil, Ratio(60, 1), "auto", "1920x1080@60"),
            (nil, .unknown, "auto", "1920x1080@60"), (2, .unknown, "auto", "1920x1080@50"),
            // Already a multiple: the monitor is left alone.
            (0, Ratio(24, 1), "1920x1080", "1920x1080@24"), (0, Ratio(12, 1), "auto", "1920x1080@60"), (2, Ratio(25, 1), "auto", "1920x1080@50"),
            (nil, Ratio(30, 1), "film", "1280x720@60"), (nil, Ratio(25, 1), "1280x720", "1280x720@60"),
            (nil, Ratio(24, 1), "1920x1080@59.94", "1920x1080@59.94"), (nil, Ratio(24, 1), "1920x1080@50", "1920x1080@50"),
            (nil, Ratio(24, 1), "1024x768", nil), (nil, Ratio(24, 1), "1920x1080@75", nil),
        ] as [(Int?, Ratio, String, String?)])
    func `the mode suits the film`(current: Int?, rate: Ratio, text: String, chosen: String?) throws {
        let request = try #require(ModeRequest(text: text))
        let index = ModeSelection.choose(
            Self.television, current: current.map { Self.television[$0] }, request: request, filmSize: Self.film, filmRate: rate)
        #expect(index.map { Self.names[$0] } == chosen)
    }

    @Test func `without 23.976 a cadence of 3 to 2 is better than a drifting one`() {
        let modes = [Self.television[0], Self.television[1]]
        #expect(ModeSelection.choose(modes, current: modes[0], request: ModeRequest(), filmSize: Self.film, filmRate: Ratio(24000, 1001)) == 1)
        #expect(ModeSelection.choose(modes, current: modes[1], request: ModeRequest(), filmSize: Self.film, filmRate: Ratio(24, 1)) == 0)
    }

    @Test func `keep keeps what is set`() {
        for index in [0, 1, 2, 3, 4, 6] {
            let chosen = ModeSelection.choose(
                Self.television, current: Self.television[index], request: ModeRequest(refresh: .keep), filmSize: Self.film, filmRate: Ratio(24, 1))
            #expect(chosen == index)
        }
        #expect(
            ModeSelection.choose(Self.television, current: nil, request: ModeRequest(refresh: .keep), filmSize: Self.film, filmRate: Ratio(24, 1))
                == 0)
    }

    @Test func `a monitor without modes has none to choose`() {
        #expect(ModeSelection.choose([], current: nil, request: ModeRequest(), filmSize: Self.film, filmRate: .one) == nil)
        #expect(ModeSelection.choose([Self.television[5]], current: nil, request: ModeRequest(), filmSize: Self.film, filmRate: .one) == nil)
    }

    @Test(arguments: ["", "x", "1920", "1920x", "1920x1080@", "0x1080", "1920x1080@0", "1920x1080@60@60", "99999x1", "1920X1080", "a@b"])
    func `what is no mode is refused`(text: String) { #expect(ModeRequest(text: text) == nil) }
}
