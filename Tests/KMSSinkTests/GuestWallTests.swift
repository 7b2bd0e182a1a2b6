import DisplaySink
import Glibc
import KMSSink
import Media
import TestSupport
import Testing

/// Several monitors at once, on the lab's second vkms, which has two with a write-back connector each.
@Suite("On two monitors", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestWallTests {
    typealias Stage = GuestTests.Stage

    private static func stage(_ arrangement: MonitorArrangement = .mirror, probe: (any SinkProbe)? = nil) throws -> Stage {
        Shell.run("lab-hotplug on wall 0; lab-hotplug on wall 1")
        // The device's first monitor, and its first other one.
        return try Stage(Guest.wall, Guest.wall, arrangement: arrangement, probe: probe)
    }

    private static func still(_ size: PixelSize, _ format: PixelFormat = .nv12) -> Quadrants {
        Quadrants(format: format, size: size, attributes: FrameAttributes(pixelAspect: .one, color: .bt709))
    }

    private static let small = still(PixelSize(width: 320, height: 240))

    /// The colours in two squares of a monitor, above each other.
    private static func halves(_ image: RGBImage) -> [RGBImage.Color] {
        [PixelRect(x: 160, y: 60, width: 320, height: 120), PixelRect(x: 160, y: 300, width: 320, height: 120)].map { image.mean(of: $0) }
    }

    private static func expectWall(_ stage: Stage, tolerance: Int) throws {
        for monitor in 0..<2 {
            for (row, color) in halves(try stage.screenshot(monitor)).enumerated() {
                let expected = Quadrants.colors[monitor + 2 * row]
                #expect(color.distance(to: expected) <= tolerance, "monitor \(monitor), row \(row): \(color) instead of \(expected)")
            }
        }
    }

    private static func details(_ stage: Stage) -> [String] {
        stage.events.withLock { $0.compactMap { if case .detail(let text) = $0 { text } else { nil } } }
    }

    @Test("Both show the film, changed by one commit, without a copy") func mirror() throws {
        let stage = try Self.stage()
        try stage.show(Self.small)
        for monitor in 0..<2 {
            let (quarters, border) = try GuestTests.look(stage.screenshot(monitor), at: GuestTests.small)
            for (color, expected) in zip(quarters, Quadrants.colors) { #expect(color.distance(to: expected) <= 2, "\(monitor): \(quarters)") }
            #expect(border == 0)
        }
        #expect(stage.sink.bytesCopied == 0)
        #expect(Self.details(stage).contains { $0.hasSuffix("are updated by one commit.") }, "\(Self.details(stage))")
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    /// The lab has no device that refuses to change two monitors at once: the test answers for it.
    private final class Alone: SinkProbe {
        /// Commits for one monitor, and for both.
        let commits = Monitor((one: 0, both: 0))
        private let isRefusedFrom: Int

        /// - Parameter isRefusedFrom: So many commits for both are taken before the first is refused.
        init(isRefusedFrom: Int) { self.isRefusedFrom = isRefusedFrom }

        func refusal(ofCommitFor monitors: Int, overlays: Int) -> Int32 {
            commits.withLock { commits in
                if monitors == 1 {
                    commits.one += 1
                    return 0
                }
                commits.both += 1
                return commits.both > isRefusedFrom ? EINVAL : 0
            }
        }
    }

    @Test("A device that refuses one commit for both is given one for each, at once or later", arguments: [0, 5]) func separate(_ from: Int) throws {
        let device = Alone(isRefusedFrom: from), stage = try Self.stage(probe: device)
        let stills = [Self.small, Self.small, GuestTests.still(.bgr0), GuestTests.still(.yuv420p)]
        var asked: [Int] = []
        for still in stills {
            try stage.show(still)
            asked.append(device.commits.withLock { $0.both })
            for monitor in 0..<2 {
                let (quarters, border) = try GuestTests.look(stage.screenshot(monitor), at: GuestTests.small)
                for (color, expected) in zip(quarters, Quadrants.colors) { #expect(color.distance(to: expected) <= 2, "\(monitor): \(quarters)") }
                #expect(border == 0)
            }
        }
        #expect(
            Self.details(stage).contains { $0.hasSuffix("are updated by separate commits, because the device refuses a common one.") },
            "\(Self.details(stage))")
        stage.sink.stop()
        // Both were asked for together until that was refused, though each alone could be had, and never after.
        #expect(asked[0] > 0 && asked[2] == asked[3], "\(asked)")
        #expect(device.commits.withLock { $0.one } >= 2 * (stills.count - 2))
        #expect(stage.queue.statistics.framesPresented == stills.count)
        #expect(stage.sink.bytesCopied == 0)
        #expect(stage.inUse == 0)
    }

    @Test("Each shows its half, without a copy") func span() throws {
        let stage = try Self.stage(.span(columns: nil))
        try stage.show(Self.still(PixelSize(width: 1280, height: 480)))
        try Self.expectWall(stage, tolerance: 2)
        #expect(stage.sink.bytesCopied == 0)
        #expect(Self.details(stage).contains { $0.contains("640x480 of 1280x480 as 640x480 at 0,0") }, "\(Self.details(stage))")
    }

    /// Lies over the middle of a canvas of two monitors.
    private final class Sign: OverlaySource {
        static let image = OverlayImage(
            place: PixelRect(x: 600, y: 200, width: 80, height: 20),
            pixels: Array(repeating: 0xffff_8000, count: 80 * 10) + Array(repeating: 0, count: 80 * 10))
        func setCanvas(_ canvas: OverlayCanvas) {}
        func expect(_ time: MediaTime) {}
        func image(at time: MediaTime) -> OverlayImage? { Self.image }
    }

    @Test("An image over the film lies on both: whole, or in two halves", arguments: [MonitorArrangement.mirror, .span(columns: nil)])
    func overlay(_ arrangement: MonitorArrangement) throws {
        let stage = try Self.stage(arrangement), isWall = arrangement != .mirror
        stage.queue.overlay = Sign()
        try stage.show(Self.still(PixelSize(width: isWall ? 1280 : 640, height: 480), .bgr0))
        let orange = RGBImage.Color(red: 255, green: 128, blue: 0)
        for monitor in 0..<2 {
            // Of the image 40 columns lie on each monitor of the wall.
            let image = try stage.screenshot(monitor), left = isWall && monitor == 1 ? 0 : 600
            var wrong = 0
            for y in 195..<225 {
                for x in left..<left + 40 {
                    let isOrange = (200..<210).contains(y), color = image[x, y]
                    if (color == orange) != isOrange { wrong += 1 }
                }
            }
            #expect(wrong == 0, "monitor \(monitor)")
            #expect(image[isWall && monitor == 1 ? 41 : 599, 205] != orange)
        }
        #expect(stage.sink.bytesCopied == 0)
        #expect(Self.details(stage).contains { $0.hasSuffix("are updated by one commit.") }, "\(Self.details(stage))")
    }

    @Test("Each shows its half of a frame converted once") func convertedSpan() throws {
        let stage = try Self.stage(.span(columns: nil))
        try stage.show(Self.still(PixelSize(width: 320, height: 120), .gbrp))
        try Self.expectWall(stage, tolerance: 2)
        #expect(stage.sink.bytesCopied == 1280 * 480 * 4)
    }

    @Test("A second column below the first") func tower() throws {
        let stage = try Self.stage(.span(columns: 1))
        try stage.show(Self.still(PixelSize(width: 640, height: 960)))
        for monitor in 0..<2 {
            let image = try stage.screenshot(monitor)
            for column in 0..<2 {
                let color = image.mean(of: PixelRect(x: 60 + 320 * column, y: 100, width: 200, height: 280))
                #expect(color.distance(to: Quadrants.colors[2 * monitor + column]) <= 2, "monitor \(monitor), column \(column): \(color)")
            }
        }
    }

    @Test("One is unplugged and plugged in again, the other goes on", arguments: [0, 1]) func unplug(_ monitor: Int) throws {
        let stage = try Self.stage()
        try stage.show(Self.small)
        Shell.run("lab-hotplug off wall \(monitor)")
        func hears(_ words: String) -> Bool {
            stage.wait { stage.events.withLock { $0.contains { if case .notice(let text) = $0 { text.hasSuffix(words) } else { false } } } }
        }
        #expect(hears("was unplugged."))
        // On the other monitor.
        try stage.show(GuestTests.still(.bgr0))
        Shell.run("lab-hotplug on wall \(monitor)")
        #expect(hears("was plugged in."))
        try stage.show(Self.small)
        for monitor in 0..<2 {
            let (quarters, _) = try GuestTests.look(stage.screenshot(monitor), at: GuestTests.small)
            for (color, expected) in zip(quarters, Quadrants.colors) { #expect(color.distance(to: expected) <= 2, "\(monitor): \(quarters)") }
        }
        #expect(!stage.events.withLock { $0.contains(.displayLost) })
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("What names no second monitor is refused") func refusals() throws {
        func refusal(_ names: String...) -> String {
            let error = #expect(throws: SinkError.self) { try KMSSink(KMSSink.Options(connectors: names)) }
            #expect(error?.code == .noDisplay)
            return error?.description ?? ""
        }
        Shell.run("lab-hotplug on wall 0; lab-hotplug on wall 1")
        #expect(refusal(Guest.wall, "HDMI-Z-9").contains("has no other monitor HDMI-Z-9"))
        #expect(refusal(Guest.wall, Guest.vkms).contains("all monitors must belong to one device"))
        #expect(refusal(Guest.wall, Guest.wall, Guest.wall).contains("has no other monitor"))
        Shell.run("lab-hotplug off wall 1")
        #expect(refusal(Guest.wall, Guest.wall).contains("has no other monitor"))
        Shell.run("lab-hotplug on wall 1")
    }
}
