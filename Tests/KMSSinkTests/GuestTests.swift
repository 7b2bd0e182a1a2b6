import DisplaySink
import Foundation
import Glibc
import KMSSink
import Media
import PixelConversion
import SinkConformance
import SurfacePool
import TestSupport
import Testing

/// The lab's virtual machine.
enum Guest {
    static let isOne = ProcessInfo.processInfo.environment["LAB"] == "1"
    static let vkms = Shell.run("lab-card vkms"), virtio = Shell.run("lab-card virtio")
    /// Two monitors.
    static let wall = Shell.run("lab-card wall")
}

/// The tests that need a real kernel's display, run inside the lab's virtual machine: its vkms has planes for YCbCr and a write-back
/// connector, its other device shows RGB only.
@Suite("On a monitor", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestTests {
    /// A sink on a monitor, fed with stills.
    final class Stage {
        let sink: KMSSink
        private let reader: ScreenReader
        let queue: PresentationQueue
        let events = Monitor<[SinkEvent]>([])
        private(set) var sequence: UInt64 = 0
        private var pools: [SurfacePool] = []

        init(_ cards: String..., mode: String = "640x480", arrangement: MonitorArrangement = .mirror, probe: (any SinkProbe)? = nil) throws {
            reader = ScreenReader(probe)
            sink = try KMSSink(
                KMSSink.Options(connectors: cards, mode: #require(ModeRequest(text: mode)), arrangement: arrangement), probe: reader)
            queue = PresentationQueue(capacity: 4, timebase: Timebase())
            try sink.start(queue) { [events] event in events.change { $0.append(event) } }
        }

        deinit { sink.stop() }

        func show(_ still: Quadrants) throws {
            let pool = SurfacePool(layout: still.layout, allocator: sink.preferredAllocator, maximumCount: 2)
            pools.append(pool)
            let before = queue.statistics.framesPresented
            var frame = try still.frame(from: pool, sequence: sequence)
            frame.flags = .displayImmediately
            sequence += 1
            queue.enqueue(frame)
            try #require(wait { queue.statistics.framesPresented > before }, "the frame is not shown")
        }

        /// Shows a still whose memory is written only when the fence's device gets to it.
        func show(_ still: Quadrants, after fence: PendingFence) throws -> DelayedWrite {
            let pool = SurfacePool(layout: still.layout, allocator: sink.preferredAllocator, maximumCount: 2)
            pools.append(pool)
            let before = queue.statistics.framesPresented
            var frame = try still.frame(from: pool, sequence: sequence)
            frame.flags = .displayImmediately
            sequence += 1
            let surface = frame.surface, size = still.layout.byteCount
            let image = unsafe surface.withUnsafeBytes { unsafe Array($0) }
            @Sendable func write(_ bytes: [UInt8]) throws {
                let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, surface.fd, 0)
                try #require(unsafe memory != MAP_FAILED)
                unsafe UnsafeMutableRawBufferPointer(start: memory, count: size).copyBytes(from: bytes)
                unsafe munmap(memory, size)
            }
            try write(Array(repeating: 0, count: size))
            try fence.guardReaders(of: surface.fd)
            queue.enqueue(frame)
            let delayed = DelayedWrite(fence) { try write(image) }
            try #require(wait { queue.statistics.framesPresented > before }, "the frame is not shown")
            return delayed
        }

        var inUse: Int { pools.map(\.statistics.inUse).reduce(0, +) }

        func wait(_ condition: () throws -> Bool) rethrows -> Bool { try Polling.until(every: .milliseconds(5), condition) }

        func screenshot(_ index: Int = 0) throws -> RGBImage { try reader.screenshot(index) }
    }

    /// The colours in the middles of a still's quarters, and the farthest from black beside it.
    static func look(_ image: RGBImage, at part: PixelRect) -> (quarters: [RGBImage.Color], border: Int) {
        let quarters = (0..<4).map { index in
            image.mean(
                of: PixelRect(
                    x: part.x + part.width * (1 + 4 * (index % 2)) / 8, y: part.y + part.height * (1 + 4 * (index / 2)) / 8, width: part.width / 4,
                    height: part.height / 4))
        }
        var border = 0
        let black = RGBImage.Color(red: 0, green: 0, blue: 0)
        for y in 0..<image.size.height {
            for x in 0..<image.size.width where !(part.x..<part.x + part.width).contains(x) || !(part.y..<part.y + part.height).contains(y) {
                border = max(border, image[x, y].distance(to: black))
            }
        }
        return (quarters, border)
    }

    @Test("brightness and colours are changed for the frame that is shown, too", arguments: [PixelFormat.nv12, .yuv444p])
    func balance(_ format: PixelFormat) throws {
        let stage = try Stage(Guest.vkms), still = Quadrants(format: format, size: PixelSize(width: 640, height: 480))
        try stage.show(still)
        let whole = PixelRect(x: 0, y: 0, width: 640, height: 480), isDirect = stage.sink.bytesCopied == 0
        func expect(_ expected: [RGBImage.Color]) throws {
            var seen: [RGBImage.Color] = []
            let isRight = try stage.wait {
                seen = Self.look(try stage.screenshot(), at: whole).quarters
                return zip(seen, expected).allSatisfy { $0.distance(to: $1) <= 3 }
            }
            #expect(isRight, "\(seen) instead of \(expected)")
        }
        try expect(Quadrants.colors)
        var balance = ColorBalance()
        (balance[.saturation], balance[.contrast]) = (-100, -50)
        // Half of BT.601's luma.
        let grays = [38, 75, 15, 128].map { RGBImage.Color(red: $0, green: $0, blue: $0) }
        stage.sink.setColorBalance(balance)
        try expect(grays)
        #expect(stage.sink.bytesCopied > 0)
        #expect(!isDirect || stage.sink.conversion?.why == "its colours are changed")
        try stage.show(still)
        try expect(grays)
        stage.sink.setColorBalance(ColorBalance())
        try expect(Quadrants.colors)
        let copied = stage.sink.bytesCopied
        try stage.show(still)
        try expect(Quadrants.colors)
        #expect(!isDirect || stage.sink.bytesCopied == copied)
        #expect(!stage.events.withLock { $0 }.contains { if case .failed = $0 { true } else { false } })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var still: Quadrants
        var isDirect: Bool
        var part: PixelRect
        /// Which quarter is seen in each place.
        var order = [0, 1, 2, 3]
        var tolerance = 2
        var framing = Framing()
        var testDescription: String {
            (framing == Framing() ? "" : "\(framing) ")
                + "\(still.format.rawValue) \(still.size) matrix \(still.attributes.color.matrix) \(still.attributes.color.range) "
                + "\(still.attributes.orientation.rotation.rawValue)° \(isDirect ? "direct" : "converted")"
        }
    }

    static func still(
        _ format: PixelFormat, _ matrix: UInt8 = 1, _ range: ColorRange = .limited, rotation: FrameOrientation.Rotation = .none, margin: Int = 0
    ) -> Quadrants {
        var color = ColorDescription.bt709
        color.matrix = matrix
        color.range = range
        return Quadrants(
            format: format, margin: margin, size: PixelSize(width: 320, height: 240),
            attributes: FrameAttributes(pixelAspect: .one, orientation: FrameOrientation(rotation: rotation), color: color))
    }

    static let small = PixelRect(x: 160, y: 120, width: 320, height: 240), whole = PixelRect(x: 0, y: 0, width: 640, height: 480)
    static let upright = PixelRect(x: 200, y: 80, width: 240, height: 320)
    private static let direct: [Case] = [PixelFormat.yuv420p, .nv12, .p010le].flatMap { (format: PixelFormat) -> [Case] in
        let colors: [(matrix: UInt8, range: ColorRange)] = [(1, .limited), (6, .limited), (9, .limited), (1, .full)]
        return colors.map { color in
            // The still's brightest chroma of P010 is 255 of 255.75, which vkms shows as 252.
            let tolerance = format == .p010le && color.range == .full ? 3 : 2
            return Case(still: still(format, color.matrix, color.range), isDirect: true, part: small, tolerance: tolerance)
        }
    }
    static let cases: [Case] =
        direct + [
            Case(still: still(.nv12, margin: 16), isDirect: true, part: small), Case(still: still(.bgr0), isDirect: true, part: small),
            Case(still: still(.nv12, rotation: .clockwise180), isDirect: true, part: small, order: [3, 2, 1, 0]),
            Case(still: still(.nv12, rotation: .clockwise90), isDirect: true, part: upright, order: [2, 0, 3, 1]),
            Case(still: still(.yuv420p, rotation: .clockwise270), isDirect: true, part: upright, order: [1, 3, 0, 2]),
            // Without a name in the kernel.
            Case(still: still(.gbrp), isDirect: false, part: whole), Case(still: still(.gbrp10le), isDirect: false, part: whole),
            // libswscale's rounding in 8 bits.
            Case(still: still(.yuv420p10le), isDirect: false, part: whole, tolerance: 3),
            Case(still: still(.gbrp, rotation: .clockwise180), isDirect: false, part: whole, order: [3, 2, 1, 0]),
            Case(
                still: still(.nv12), isDirect: true, part: upright, order: [2, 0, 3, 1], framing: framing { $0.orientation.rotation = .clockwise90 }),
            Case(still: still(.nv12), isDirect: true, part: small, order: [1, 0, 3, 2], framing: framing { $0.orientation.isMirrored = true }),
            // What fills the screen, at half its size: as large as it is.
            Case(
                still: still(.nv12), isDirect: true, part: PixelRect(x: 320, y: 120, width: 320, height: 240),
                framing: framing { ($0.zoom, $0.panX) = (-1, 0.5) }),
            Case(still: still(.nv12), isDirect: false, part: whole, tolerance: 3, framing: framing { $0.zoom = 1 }),
            Case(
                still: still(.nv12), isDirect: true, part: PixelRect(x: 240, y: 180, width: 160, height: 120), order: [0, 0, 2, 2],
                framing: framing { $0.crop = PixelRect(x: 0, y: 60, width: 160, height: 120) }),
        ]

    static func framing(_ change: (inout Framing) -> Void) -> Framing {
        var framing = Framing()
        change(&framing)
        return framing
    }

    @Test("The screen shows what the film says", arguments: cases) func pixels(_ row: Case) throws {
        let stage = try Stage(Guest.vkms)
        stage.sink.setFraming(row.framing)
        try stage.show(row.still)
        #expect((stage.sink.conversion == nil) == row.isDirect)
        #expect((stage.sink.bytesCopied == 0) == row.isDirect)
        let (quarters, border) = try Self.look(stage.screenshot(), at: row.part)
        for (index, color) in quarters.enumerated() {
            let expected = Quadrants.colors[row.order[index]]
            #expect(color.distance(to: expected) <= row.tolerance, "quarter \(index) is \(color) instead of \(expected)")
        }
        #expect(border == 0)
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("A frame that stands is turned, moved and cut at once") func framings() throws {
        let stage = try Stage(Guest.vkms)
        try stage.show(Self.still(.nv12))
        for row in Self.cases where row.framing != Framing() {
            stage.sink.setFraming(row.framing)
            let isSeen = try stage.wait {
                let (quarters, border) = try Self.look(stage.screenshot(), at: row.part)
                return border == 0 && zip(quarters, row.order).allSatisfy { $0.distance(to: Quadrants.colors[$1]) <= row.tolerance }
            }
            #expect(isSeen, "\(row.framing)")
        }
    }

    @Test("What every sink must do, on planes", arguments: SinkConformance.Check.allCases) func conforms(_ check: SinkConformance.Check) throws {
        try SinkConformance { try KMSSink(KMSSink.Options(connectors: [Guest.vkms])) }.check(check)
    }

    @Test("What every sink must do, with conversion", arguments: SinkConformance.Check.allCases) func converts(_ check: SinkConformance.Check) throws
    {
        try SinkConformance { try KMSSink(KMSSink.Options(connectors: [Guest.virtio])) }.check(check)
    }

    @Test("One program at a time") func master() throws {
        let first = try KMSSink(KMSSink.Options(connectors: [Guest.vkms]))
        let refusal = #expect(throws: SinkError.self) { try KMSSink(KMSSink.Options(connectors: [Guest.vkms])) }
        #expect(refusal?.code == .noDisplay && refusal?.description.contains("in use by another program") == true)
        first.stop()
    }
}
