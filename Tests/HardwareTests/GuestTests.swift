import Decoding
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// The software driver behind a real render node, which libva has looked at itself and the kernel has given rights to.
@Suite("a render node", .serialized, .enabled(if: LabLibraries.areHere, "render nodes are in the virtual machine: scripts/lab suite"))
struct GuestTests {
    @Test(
        "a film comes out of a process that may drive nothing but the node as out of software",
        arguments: ["plain.mp4", "vp9.webm", "size-change.h264"])
    func film(name: String) throws {
        // A process learns from the environment which driver is meant, and nothing else.
        SoftwareVADriver.adopt()
        defer { SoftwareVADriver.leave() }
        let node = try #require(VADevice.paths().first)
        let film = try HardwareFilm(
            TestAssets.path(name), DecoderSpecification(hardware: .require, device: node), holds: 3,
            sandbox: SandboxOptions(policy: .require, decoderPath: BuiltPrograms.decoder))
        #expect(film.hashes == (try HardwareFilm(TestAssets.path(name), .software)).hashes)
        #expect(film.backend.isHardware && film.kinds == [.va] && film.errors == [] && film.bytesCopied == 0)
    }

    @Test("a device's other node, which drives monitors, is refused")
    func card() throws {
        let sandbox = SandboxOptions(policy: .require, decoderPath: BuiltPrograms.decoder)
        #expect {
            try HardwareFilm(
                TestAssets.path("plain.mp4"), DecoderSpecification(hardware: .require, device: "/dev/dri/card0"), sandbox: sandbox)
        } throws: { error in
            (error as? DecodingError)?.code == .noHardware && "\(error)".contains("/dev/dri/card0 is no render node")
        }
    }
}
