import Decoding
import Media
import SurfacePool
import TestSupport
import Testing

/// What a session makes of a driver that fails, each time in a process whose driver is told to.
@Suite("a driver that misbehaves")
struct MisbehaviourTests {
    @Test("one frame that fails is lost, not the hardware")
    func oneFrame() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_FAIL": "20"])
            let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred)
            #expect(film.errors.count >= 1 && film.errors.count < 4, "\(film.errors)")
            #expect(film.backend.isHardware && !film.history.contains("s"))
            #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
        }
    }

    @Test("a driver that fails at everything: software from the first frame, none lost")
    func everyFrame() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_FAIL": "1-100000"])
            let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred)
            let software = try HardwareFilm(TestAssets.path("demo.mp4"), .software)
            #expect(film.hashes == software.hashes && film.times == software.times && film.errors == [])
            #expect(!film.backend.isHardware && film.backend.reason != nil)
        }
    }

    @Test("a context that cannot be made: software from the first frame, none lost")
    func noContext() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_FAIL_CONTEXTS": "1"])
            let film = try HardwareFilm(TestAssets.path("vp9.webm"), .preferred)
            let software = try HardwareFilm(TestAssets.path("vp9.webm"), .software)
            #expect(film.hashes == software.hashes && film.times == software.times && film.errors == [])
            #expect(!film.backend.isHardware && film.backend.reason != nil)
        }
    }

    @Test("a device that is taken away: software from the next sync frame, in step")
    func gone() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_GONE": "50"])
            let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred)
            let software = try HardwareFilm(TestAssets.path("demo.mp4"), .software)
            #expect(film.history.hasPrefix("hhhh") && film.history.hasSuffix("ssss"), "\(film.history)")
            #expect(!film.backend.isHardware)
            // What was shown is right and at its time; what is missing was answered.
            let right = Dictionary(uniqueKeysWithValues: zip(software.times, software.hashes))
            #expect(zip(film.times, film.hashes).allSatisfy { right[$0] == $1 })
            #expect(film.times == film.times.sorted())
            #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
        }
    }

    @Test("a frame that never ends is given up after a while and the film goes on")
    func hang() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_HANG": "10"])
            let film = try HardwareFilm(TestAssets.path("plain.mp4"), .preferred)
            #expect(film.errors.count == 1 && film.hashes.count == film.samples - 1, "\(film.errors)")
        }
    }

    @Test("too few surfaces: software goes on")
    func fewSurfaces() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_SURFACES": "3"])
            let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred, holds: 4)
            #expect(film.history.hasSuffix("ssss"), "\(film.history)")
            #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
        }
    }

    @Test("where hardware is required nothing else decodes")
    func required() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_GONE": "50"])
            let film = try HardwareFilm(TestAssets.path("demo.mp4"), .required)
            #expect(!film.history.contains("s") && film.errors.count > 10 && film.errors.contains { $0.code == .noHardware })
        }
    }

    @Test("tiled surfaces are read back through the driver, and the copy is counted")
    func tiled() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_TILED": "1"])
            let film = try HardwareFilm(TestAssets.path("plain.mp4"), .required)
            let software = try HardwareFilm(TestAssets.path("plain.mp4"), .software)
            #expect(film.hashes == software.hashes && film.kinds == [.va])
            #expect(film.bytesCopied > 0)
        }
    }
}
