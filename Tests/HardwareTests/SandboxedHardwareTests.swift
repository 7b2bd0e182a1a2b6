import Decoding
import Demuxing
import Glibc
import Media
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Hardware driven by a decoder process: the driver runs there, its surfaces are shown from here.
@Suite(
    "films through libva in a process of its own", .serialized,
    .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
struct SandboxedHardwareTests {
    private static func sandbox(_ switches: [String: String] = [:], restarts: Int = 5) throws -> SandboxOptions {
        SandboxOptions(
            policy: .decoder, decoderPath: try SoftwareVADriver.decoder(switches), restarts: RestartLimit(count: restarts, window: .seconds(3600)),
            hangDeadline: .seconds(30))
    }

    @Test(
        "our own films come out as in software, in surfaces of the driver's, without a copy, held frames untouched",
        arguments: ["plain.mp4", "vp9.webm", "demo.mp4", "annexb.h264", "size-change.h264", "crop.mp4"])
    func own(name: String) throws {
        let software = try HardwareFilm(TestAssets.path(name), .software)
        let hardware = try HardwareFilm(TestAssets.path(name), .required, holds: 5, sandbox: Self.sandbox(["PLAYER_VA_CHECK": "1"]))
        #expect(software.hashes.count > 5)
        #expect(hardware.hashes == software.hashes && hardware.times == software.times)
        #expect(hardware.kinds == [.va] && hardware.backend.isHardware && hardware.bytesCopied == 0 && hardware.errors == [])
        #expect(hardware.backend.driver?.hasPrefix("Player software driver") == true)
    }

    @Test("a stream that the driver does not serve is refused where hardware is required, and decoded in software where it is preferred")
    func unserved() throws {
        let path = TestAssets.path("hevc-10bit.mp4"), sandbox = try Self.sandbox()
        #expect { try HardwareFilm(path, .required, sandbox: sandbox) } throws: { ($0 as? DecodingError)?.code == .noHardware }
        let film = try HardwareFilm(path, .preferred, sandbox: sandbox)
        #expect(!film.backend.isHardware && film.backend.reason?.contains("HEVCMain10") == true, "\(film.backend)")
        #expect(film.hashes == (try HardwareFilm(path, .software)).hashes)
    }

    @Test("a device that is none, and one that drives no decoder, are named in the refusal")
    func noDevice() throws {
        for (path, decoder) in [("/dev/dri/renderD999", try SoftwareVADriver.decoder()), ("/dev/null", BuiltPrograms.decoder)] {
            let sandbox = SandboxOptions(policy: .decoder, decoderPath: decoder)
            #expect {
                try HardwareFilm(TestAssets.path("plain.mp4"), DecoderSpecification(hardware: .require, device: path), sandbox: sandbox)
            } throws: { error in
                (error as? DecodingError)?.code == .noHardware && "\(error)".contains(path)
            }
            let film = try HardwareFilm(
                TestAssets.path("plain.mp4"), DecoderSpecification(hardware: .prefer, device: path), sandbox: sandbox)
            #expect(film.hashes.count == film.samples && !film.backend.isHardware && film.backend.reason?.contains(path) == true, "\(film.backend)")
        }
    }

    private static func report(_ specification: DecoderSpecification, _ switches: [String: String] = [:]) throws -> SandboxReport {
        let reader = try AssetReader(url: TestAssets.path("plain.mp4"))
        let track = try #require(reader.tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format else { throw HardwareFilm.NoVideo() }
        return try SandboxedSession(format: format, options: DecoderOptions(specification: specification), sandbox: sandbox(switches)).report
    }

    @Test("a thread that the driver has started before can open nothing afterwards, and the report says what does not hold for it")
    func driverThread() async throws {
        let switches = ["PLAYER_VA_THREAD": "1"]
        let film = try HardwareFilm(TestAssets.path("plain.mp4"), .required, sandbox: Self.sandbox(switches))
        #expect(film.hashes == (try HardwareFilm(TestAssets.path("plain.mp4"), .software)).hashes)
        let usual = try Self.report(.required), threaded = try Self.report(.required, switches)
        #expect(threaded.measures == usual.measures.subtracting([.landlock, .noCapabilities]), "\(threaded)")
        #expect(!usual.measures.contains(.landlock) || threaded.troubles.contains { $0.contains("threads") }, "\(threaded)")
        // Without a sandbox the thread can, and the driver says so by failing.
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_THREAD": "1"])
            let film = try HardwareFilm(TestAssets.path("plain.mp4"), .preferred)
            #expect(!film.backend.isHardware)
        }
    }

    @Test("the process has given up what every decoder process gives up, with a render node")
    func report() throws {
        let session = try Self.report(.required), strict = try Self.report(.software)
        #expect(session.keepsDevice && !strict.keepsDevice)
        #expect(session.measures == strict.measures && session.isConfined == strict.isConfined, "\(session)")
    }

    @Test(
        "third-party films", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)),
        arguments: ["h264", "vp9", "vp8", "mpeg2video"])
    func thirdParty(codec: String) throws {
        let catalog = try #require(MediaCatalog.shared), sandbox = try Self.sandbox()
        var served = 0
        for film in catalog.usual(codec: codec) {
            guard let name = film.frameMD5, let reference = FrameMD5File(path: catalog.path(name)) else { continue }
            guard let decoded = try? HardwareFilm(catalog.path(film.path), .preferred, sandbox: sandbox) else { continue }
            let isRight = decoded.hashes == reference.lines.map(\.hash), known = HardwareFilmTests.known[film.path]
            if decoded.history.contains("h") { served += 1 }
            #expect(isRight == (known == nil), "\(film.path): \(known ?? "differs"), \(decoded.history.prefix(100)), \(decoded.errors.prefix(3))")
        }
        print("\(codec): \(served) films through libva in processes")
        #expect(served > 0)
    }

    // MARK: A driver that misbehaves

    @Test("one frame that fails is lost, not the hardware")
    func oneFrame() throws {
        let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred, sandbox: Self.sandbox(["PLAYER_VA_FAIL": "20"]))
        #expect(film.errors.count >= 1 && film.errors.count < 4, "\(film.errors)")
        #expect(film.backend.isHardware && !film.history.contains("s"))
        #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
    }

    @Test(
        "a driver that fails at everything, or at the start: software from the first frame, none lost",
        arguments: [["PLAYER_VA_FAIL": "1-100000"], ["PLAYER_VA_FAIL_CONTEXTS": "1"]])
    func everyFrame(switches: [String: String]) throws {
        let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred, sandbox: Self.sandbox(switches))
        let software = try HardwareFilm(TestAssets.path("demo.mp4"), .software)
        #expect(film.hashes == software.hashes && film.times == software.times && film.errors == [], "\(film.errors)")
        #expect(!film.backend.isHardware && film.backend.reason?.contains("hardware decoder failed") == true, "\(film.backend)")
    }

    @Test("a device that is taken away: software from the next sync frame, in step")
    func gone() throws {
        let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred, sandbox: Self.sandbox(["PLAYER_VA_GONE": "50"]))
        let software = try HardwareFilm(TestAssets.path("demo.mp4"), .software)
        #expect(film.history.hasPrefix("hhhh") && film.history.hasSuffix("ssss"), "\(film.history)")
        let right = Dictionary(uniqueKeysWithValues: zip(software.times, software.hashes))
        #expect(zip(film.times, film.hashes).allSatisfy { right[$0] == $1 })
        #expect(film.times == film.times.sorted())
        #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
    }

    @Test("where hardware is required nothing else decodes")
    func required() throws {
        let film = try HardwareFilm(TestAssets.path("demo.mp4"), .required, sandbox: Self.sandbox(["PLAYER_VA_GONE": "50"]))
        #expect(!film.history.contains("s") && film.errors.count > 10 && film.errors.contains { $0.code == .noHardware })
    }

    @Test("too few surfaces: software goes on")
    func fewSurfaces() throws {
        let film = try HardwareFilm(TestAssets.path("demo.mp4"), .preferred, holds: 4, sandbox: Self.sandbox(["PLAYER_VA_SURFACES": "3"]))
        #expect(film.history.hasSuffix("ssss"), "\(film.history)")
        #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
    }

    @Test("tiled surfaces are read back through the process, and the copy is counted")
    func tiled() throws {
        let film = try HardwareFilm(TestAssets.path("plain.mp4"), .required, sandbox: Self.sandbox(["PLAYER_VA_TILED": "1"]))
        let software = try HardwareFilm(TestAssets.path("plain.mp4"), .software)
        #expect(film.hashes == software.hashes && film.kinds == [.va])
        #expect(film.bytesCopied > 0)
    }

    // MARK: A process that dies

    @Test("a process that is killed costs frames up to the next sync frame; the second time software goes on", arguments: [1, 2])
    func killed(times: Int) throws {
        let path = TestAssets.path("demo.mp4")
        let software = try HardwareFilm(path, .software)
        let film = try HardwareFilm(path, .preferred, holds: 3, sandbox: Self.sandbox(), killsAt: times == 1 ? [60] : [60, 120])
        let right = Dictionary(uniqueKeysWithValues: zip(software.times, software.hashes))
        // What was held while the process died is what it was.
        #expect(zip(film.times, film.hashes).allSatisfy { right[$0] == $1 })
        #expect(film.hashes.count + film.errors.count + film.dropped == film.samples)
        #expect(film.errors.contains { $0.code == .decoderDied } && film.errors.allSatisfy { $0.code == .decoderDied }, "\(film.errors)")
        #expect(film.history.hasPrefix("hhhh") && film.history.hasSuffix(times == 1 ? "hhhh" : "ssss"), "\(film.history)")
        #expect(film.backend.isHardware == (times == 1), "\(film.backend)")
        #expect(times == 1 || film.backend.reason?.contains("the process that drives") == true, "\(film.backend)")
    }
}
