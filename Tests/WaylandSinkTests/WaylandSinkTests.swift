import DisplaySink
import Foundation
import Media
import PixelConversion
import SinkConformance
import SurfacePool
import TestSupport
import Testing
import WaylandSink

@Suite("A window on a real compositor", .serialized)
struct WaylandSinkTests {
    /// A format on a renderer, and what the sink must make of it.
    struct Case: CustomTestStringConvertible, Sendable {
        var renderer: PrivateWeston.Renderer
        var format: PixelFormat
        var isDirect: Bool
        var testDescription: String { "\(format.rawValue) with \(renderer.rawValue), \(isDirect ? "without a copy" : "converted")" }
    }

    static let cases = [
        Case(renderer: .gl, format: .yuv420p, isDirect: true), Case(renderer: .gl, format: .nv12, isDirect: true),
        Case(renderer: .gl, format: .yuv420p10le, isDirect: false), Case(renderer: .gl, format: .bgr0, isDirect: true),
        Case(renderer: .pixman, format: .yuv420p, isDirect: false), Case(renderer: .pixman, format: .bgr0, isDirect: true),
    ]

    @Test("colours and crop are right", arguments: TestExtent.cases(cases, sanitizedStep: 4))
    func colors(_ example: Case) throws {
        let stage = try Stage(PrivateWeston(example.renderer))
        try stage.start()
        try stage.show(Quadrants(format: example.format, margin: 22))
        try stage.fillScreen()
        try stage.show(Quadrants(format: example.format, margin: 22))
        let seen = try stage.quarters(of: PixelRect(stage.weston.size), expecting: Quadrants.colors, tolerance: 6)
        for (color, expected) in zip(seen, Quadrants.colors) { #expect(color.distance(to: expected) <= 6, "\(color) instead of \(expected)") }
        let corner = try stage.weston.screenshot()[4, 4]
        #expect(corner.distance(to: Quadrants.colors[0]) <= 6, "the border shows: \(corner)")
        #expect((stage.sink.conversion == nil) == example.isDirect)
        #expect((stage.sink.bytesCopied == 0) == example.isDirect)
        stage.sink.stop()
        #expect(stage.inUse == 0)
        #expect(stage.failures.isEmpty)
    }

    @Test("exact colors are converted, by the film's own matrix, where the compositor would guess")
    func exactColors() throws {
        let weston = try PrivateWeston(.gl)
        let stage = try Stage(weston, sink: WaylandSink(display: weston.display, exactColors: true))
        try stage.start()
        stage.sink.setFullscreen(true)
        // What says BT.709 is converted; what says nothing and is small is BT.601, which compositors know.
        try stage.show(Quadrants(format: .yuv420p, attributes: FrameAttributes(color: .bt709)))
        #expect(stage.sink.isFullscreen, "a wish made before the window is there is granted")
        #expect(stage.wait { stage.sink.conversion?.from == "yuv420p" })
        let copied = stage.sink.bytesCopied
        #expect(copied == 320 * 240 * 4)
        try stage.show(Quadrants(format: .yuv420p))
        #expect(stage.wait { stage.sink.conversion == nil })
        #expect(stage.sink.bytesCopied == copied)
    }

    @Test("a sink that everybody has forgotten ends itself")
    func forgotten() throws {
        let weston = try PrivateWeston(.gl)
        let pool: SurfacePool
        do {
            let stage = try Stage(weston)
            try stage.start()
            try stage.show(Quadrants(format: .yuv420p))
            pool = stage.pools[0]
        }
        #expect(pool.statistics.inUse == 0)
    }

    /// Which quarter of the upright frame each quarter of the screen shows, by orientation.
    static let turns: [(FrameOrientation, [Int])] = [
        (FrameOrientation(rotation: .clockwise90), [2, 0, 3, 1]),
        (FrameOrientation(rotation: .clockwise180), [3, 2, 1, 0]),
        (FrameOrientation(rotation: .clockwise270), [1, 3, 0, 2]),
        (FrameOrientation(isMirrored: true), [1, 0, 3, 2]),
        (FrameOrientation(rotation: .clockwise90, isMirrored: true), [0, 2, 1, 3]),
    ]

    @Test("frames are turned and mirrored, with their crop")
    func orientation() throws {
        let stage = try Stage(PrivateWeston(.gl))
        try stage.start()
        for (orientation, order) in Self.turns {
            let still = Quadrants(format: .yuv420p, margin: 10, attributes: FrameAttributes(orientation: orientation))
            try stage.show(still)
            if !stage.sink.isFullscreen { try stage.fillScreen() }
            let isSideways = orientation.rotation == .clockwise90 || orientation.rotation == .clockwise270
            let part = isSideways ? PixelRect(x: 140, y: 0, width: 360, height: 480) : PixelRect(stage.weston.size)
            let expected = order.map { Quadrants.colors[$0] }
            let seen = try stage.quarters(of: part, expecting: expected, tolerance: 6)
            for (color, expected) in zip(seen, expected) {
                #expect(color.distance(to: expected) <= 6, "\(orientation): \(color) instead of \(expected)")
            }
            if isSideways {
                let beside = try stage.weston.screenshot()[70, 240]
                #expect(beside.distance(to: .init(red: 0, green: 0, blue: 0)) <= 2, "black beside the frame")
            }
        }
    }

    @Test("what fits, how large it is, where it lies and how it is turned")
    func framings() throws {
        let stage = try Stage(PrivateWeston(.gl))
        try stage.start()
        // Twice as wide as high, on a screen of 4:3.
        try stage.show(Quadrants(format: .yuv420p, size: PixelSize(width: 320, height: 160)))
        try stage.fillScreen()
        let whole = PixelRect(stage.weston.size), colors = Quadrants.colors
        func framing(_ change: (inout Framing) -> Void) -> Framing {
            var framing = Framing()
            change(&framing)
            return framing
        }
        let rows: [(Framing, PixelRect, [RGBImage.Color])] = [
            (Framing(), PixelRect(x: 0, y: 80, width: 640, height: 320), colors), (Framing(gravity: .fill), whole, colors),
            (Framing(gravity: .stretch), whole, colors), (framing { $0.panscan = 0.5 }, PixelRect(x: 0, y: 40, width: 640, height: 400), colors),
            (framing { $0.zoom = -1 }, PixelRect(x: 160, y: 160, width: 320, height: 160), colors), (framing { $0.zoom = 1 }, whole, colors),
            (framing { ($0.zoom, $0.panX) = (-1, -0.25) }, PixelRect(x: 80, y: 160, width: 320, height: 160), colors),
            (framing { $0.aspectRatio = Ratio(4, 3) }, whole, colors),
            (framing { $0.crop = PixelRect(x: 40, y: 0, width: 240, height: 160) }, PixelRect(x: 0, y: 26, width: 640, height: 427), colors),
            (
                framing { $0.orientation = FrameOrientation(rotation: .clockwise90) }, PixelRect(x: 200, y: 0, width: 240, height: 480),
                [colors[2], colors[0], colors[3], colors[1]]
            ),
            (
                framing { $0.orientation.isMirrored = true }, PixelRect(x: 0, y: 80, width: 640, height: 320),
                [colors[1], colors[0], colors[3], colors[2]]
            ),
        ]
        for (framing, part, expected) in rows {
            stage.sink.setFraming(framing)
            let seen = try stage.quarters(of: part, expecting: expected, tolerance: 6)
            for (color, expected) in zip(seen, expected) { #expect(color.distance(to: expected) <= 6, "\(framing): \(color)") }
            if part.y > 10 {
                let above = try stage.weston.screenshot()[320, part.y - 10]
                #expect(above.distance(to: .init(red: 0, green: 0, blue: 0)) <= 2, "\(framing): \(above) above the frame")
            }
        }
    }

    @Test("full screen and back change the size")
    func fullscreen() throws {
        let stage = try Stage(PrivateWeston(.gl))
        try stage.start()
        try stage.show(Quadrants(format: .yuv420p))
        try stage.fillScreen()
        stage.sink.toggleFullscreen()
        #expect(stage.wait { !stage.sink.isFullscreen })
        let sizes = stage.events.withLock { $0 }.compactMap { if case .resized(let size) = $0 { size } else { nil } }
        #expect(sizes == [PixelSize(width: 320, height: 240), stage.weston.size, PixelSize(width: 320, height: 240)])
    }

    @Test("a compositor that dies in the middle of a film is told of once")
    func compositorDies() throws {
        let stage = try Stage(PrivateWeston(.gl))
        try stage.start()
        try stage.show(Quadrants(format: .yuv420p))
        stage.weston.kill()
        #expect(stage.wait { !stage.failures.isEmpty })
        stage.sink.stop()
        #expect(stage.failures.map(\.code) == [.lost])
        #expect(stage.inUse == 0)
    }

    @Test("no display is an error that names what was tried")
    func noDisplay() {
        let error = #expect(throws: SinkError.self) { try WaylandSink(display: "/nonexistent/display") }
        #expect(error?.code == .noDisplay)
        #expect(error?.description.contains("/nonexistent/display") == true)
    }

    @Test("what every sink must do", arguments: SinkConformance.Check.allCases)
    func conforms(_ check: SinkConformance.Check) throws {
        let weston = try PrivateWeston(.gl)
        try SinkConformance { try WaylandSink(display: weston.display) }.check(check)
    }

    /// In a process of its own: the descriptors are a process's.
    @Test("starts and stops, a hundred of them without a sanitizer, leave no descriptor behind")
    func noGrowth() async {
        await #expect(processExitsWith: .success) {
            let weston = try PrivateWeston(.gl)
            let sink = try WaylandSink(display: weston.display)
            func descriptors() -> Int { OpenDescriptors.count }
            var before = 0
            for round in 0..<TestExtent.rounds(100, full: 100, sanitized: 20) {
                if round == 2 { before = descriptors() }
                let pool = SurfacePool(layout: Quadrants(format: .yuv420p).layout, allocator: MemfdAllocator(), maximumCount: 2)
                let queue = PresentationQueue(capacity: 2, timebase: Timebase())
                var frame = try Quadrants(format: .yuv420p).frame(from: pool, sequence: 0)
                frame.flags = .displayImmediately
                queue.enqueue(frame)
                let shown = Monitor(false)
                try sink.start(queue) { event in if case .firstFrameShown = event { shown.change { $0 = true } } }
                _ = shown.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? () : nil }
                sink.stop()
                precondition(shown.withLock { $0 } && pool.statistics.inUse == 0, "round \(round)")
            }
            let after = descriptors()
            precondition(after <= before, "\(before) descriptors became \(after)")
        }
    }
}
