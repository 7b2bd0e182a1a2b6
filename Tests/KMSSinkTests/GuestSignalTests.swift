import DisplaySink
import Foundation
import KMSSink
import Media
import PixelConversion
import Player
import SurfacePool
import TestSupport
import Testing

/// What a monitor is told, on the lab's second vkms: its monitors have the EDID that a test writes, and the kernel keeps what they are told.
@Suite("What a monitor is told", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestSignalTests {
    typealias Stage = GuestTests.Stage

    private static func sum(_ block: ArraySlice<UInt8>) -> UInt8 { 0 &- block.reduce(0, &+) }

    /// A monitor of 640x480 at 60 Hz (CVT's timing), with data blocks.
    private static func edid(_ blocks: [UInt8]) -> [UInt8] {
        var first: [UInt8] = [0, 255, 255, 255, 255, 255, 255, 0, 0x3c, 0x22, 1, 0, 1, 0, 0, 0, 1, 36, 1, 4, 0xa5, 60, 34, 120, 2]
        first += [UInt8](repeating: 0, count: 10) + [0x20, 0, 0] + [UInt8](repeating: 1, count: 16)
        // 25.18 MHz, 640+160 by 480+45.
        first += [0xd6, 9, 0x80, 0xa0, 0x20, 0xe0, 0x2d, 0x10, 0x10, 0x60, 0xa2, 0, 0, 0, 0, 0, 0, 0x1e]
        first += [0, 0, 0, 0xfc, 0] + Array("Lab HDR\n     ".utf8)
        first += [UInt8](repeating: 0, count: 3) + [0x10] + [UInt8](repeating: 0, count: 14)
        first += [UInt8](repeating: 0, count: 3) + [0x10] + [UInt8](repeating: 0, count: 14) + [1]
        var second: [UInt8] = [2, 3, UInt8(4 + blocks.count), 0] + blocks
        second += [UInt8](repeating: 0, count: 127 - second.count)
        return first + [sum(first[...])] + second + [sum(second[...])]
    }

    /// Gives the wall's first monitor an EDID.
    private static func give(_ bytes: [UInt8]) throws {
        let folder = "/sys/kernel/debug/dri/\(Guest.wall.drop { !$0.isNumber })"
        Shell.run("lab-hotplug on wall 0; lab-hotplug on wall 1")
        let connectors = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("Virtual-") }.sorted()
        let file = try #require(FileHandle(forWritingAtPath: "\(folder)/\(connectors[0])/edid_override"), "\(folder) \(connectors)")
        try file.write(contentsOf: Data(bytes))
        try file.close()
        Shell.run("lab-hotplug off wall 0; lab-hotplug on wall 0")
    }

    private static func takeEDID() throws { try give(Array("reset".utf8)) }

    /// What drm_info says of the wall.
    private static var info: String { Shell.run("in-lab drm_info \(Guest.wall)") }

    private static func film(_ primaries: UInt8, _ transfer: UInt8) -> Quadrants {
        var still = Quadrants(format: .p010le, size: PixelSize(width: 320, height: 240), attributes: FrameAttributes(pixelAspect: .one))
        still.attributes.color = ColorDescription(primaries: primaries, transfer: transfer, matrix: primaries == 9 ? 9 : 1, range: .limited)
        still.attributes.hdr = HDRStaticMetadata(
            red: .init(x: 34000, y: 16000), green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000), white: .init(x: 15635, y: 16450),
            maximumLuminance: 10_000_000, minimumLuminance: 50, maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        return still
    }

    private static func details(_ stage: Stage) -> String {
        stage.events.withLock { $0.compactMap { if case .detail(let text) = $0 { text } else { nil } } }.joined(separator: "\n")
    }

    /// What drm_info reads where a film in PQ is shown, of a display of DCI-P3's primaries.
    private static let told = [
        "EOTF: SMPTE ST 2084 (PQ)", "Red: (0.6800, 0.3200)", "Green: (0.2650, 0.6900)", "Blue: (0.1500, 0.0600)", "White point: (0.3127, 0.3290)",
        "Max display mastering luminance: 1000 cd/m²", "Min display mastering luminance: 0.0050 cd/m²", "Max content light level: 1000 cd/m²",
        "Max frame average light level: 400 cd/m²", "= BT2020_RGB", "\"max bpc\": range [8, 12] = 10",
    ]

    @Test("So it is by a film from its file") func film() throws {
        try Self.give(Self.edid([0xe3, 6, 0x0d, 1, 0xe3, 5, 0xc0, 0]))
        defer { try? Self.takeEDID() }
        let stage = try GuestFilmTests.Stage("hdr10.mp4", connectors: ["Lab HDR"])
        var info = Self.info
        _ = Polling.until(every: .milliseconds(100)) {
            info = Self.info
            return info.contains("EOTF")
        }
        for line in Self.told { #expect(info.contains(line), "\(line) is missing in \(info)") }
        stage.player.close()
        #expect(!Self.info.contains("EOTF"), "the monitor is left as it was found")
    }

    @Test("A monitor that understands PQ is told of it while such a film is shown") func dynamicRange() throws {
        try Self.give(Self.edid([0xe3, 6, 0x0d, 1, 0xe3, 5, 0xc0, 0]))
        defer { try? Self.takeEDID() }
        let stage = try Stage("Lab HDR")
        try stage.show(Self.film(9, 16))
        var info = Self.info
        for line in Self.told { #expect(info.contains(line), "\(line) is missing in \(info)") }
        #expect(Self.details(stage).contains("HDR metadata for PQ, colorspace BT2020_RGB, up to 10 bits per channel"), "\(Self.details(stage))")
        try stage.show(Self.film(1, 1))
        info = Self.info
        #expect(!info.contains("EOTF") && !info.contains("= BT2020_RGB") && info.contains("\"max bpc\": range [8, 12] = 8"))
        try stage.show(Self.film(9, 18))
        #expect(Self.info.contains("EOTF: HLG"))
        stage.sink.stop()
        info = Self.info
        #expect(!info.contains("EOTF") && !info.contains("= BT2020_RGB"), "the monitor is left as it was found")
    }

    @Test("A monitor that says nothing of PQ is told nothing") func plain() throws {
        try Self.takeEDID()
        let stage = try Stage(Guest.wall)
        try stage.show(Self.film(9, 16))
        #expect(!Self.info.contains("EOTF"))
        #expect(Self.details(stage).contains("the monitor does not announce support for it"))
        #expect(stage.sink.conversion?.why == "the monitor does not get HDR")
        #expect(stage.sink.bytesCopied > 0)
        // Films in standard dynamic range go to a plane as before.
        try stage.show(Self.film(1, 1))
        #expect(stage.wait { stage.sink.conversion == nil })
    }

    @Test("A monitor that can wait does so for a film that fits no steady rate", arguments: [(Ratio(25, 1), true), (Ratio(30000, 1001), false)])
    func variable(
        _ rate: Ratio, _ isVariable: Bool
    ) throws {
        Shell.run("lab-hotplug on wall 0")
        let stage = try Stage(Guest.wall)
        stage.sink.setFilmRate(rate)
        try stage.show(GuestTests.still(.nv12))
        #expect(Self.info.contains("\"VRR_ENABLED\": range [0, 1] = 1") == isVariable, "\(Self.info)")
        stage.sink.stop()
        #expect(!Self.info.contains("\"VRR_ENABLED\": range [0, 1] = 1"))
    }

    @Test("A link that broke is set up again") func link() throws {
        Shell.run("lab-hotplug on wall 0")
        let stage = try Stage(Guest.wall)
        try stage.show(GuestTests.still(.nv12))
        let before = stage.queue.statistics.framesPresented
        Shell.run("lab-hotplug break wall 0")
        // The same frame again, by a full commit.
        #expect(stage.wait { stage.queue.statistics.framesPresented > before })
        #expect(!Self.info.contains("= Bad"))
        #expect(!stage.events.withLock { $0.contains(.displayLost) })
    }

    @Test("What another device still writes is not shown before it is written") func fence() throws {
        let stage = try Stage(Guest.vkms)
        let still = GuestTests.still(.nv12)
        let node = Shell.run("lab-card vgem")
        try DelayedWrite.retry {
            try stage.show(GuestTests.still(.bgr0))
            let write = try stage.show(still, after: PendingFence(node: node))
            return (try GuestTests.look(stage.screenshot(), at: GuestTests.small).quarters, write)
        } _: { quarters in
            for (color, expected) in zip(quarters, Quadrants.colors) { #expect(color.distance(to: expected) <= 2, "\(quarters)") }
        }
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }
}
