import Decoding
import DisplaySink
import FrameExport
import Media
import PixelConversion
import Player
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// What a program learns of the memory that hardware's frames lie in, and what it gets when its device cannot import it.
@Suite("exported frames of hardware", .serialized, .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
struct ExportedMemoryTests {
    /// What a program got of the first ten frames of a film.
    struct Taken {
        var hashes: [String] = []
        var descriptions: [FrameDescription] = []
        var details: [String] = []
        var bytesCopied = 0
        var failure: String?
    }

    private static let frameCount = 10
    private static let node = DeviceNumber(path: SoftwareVADriver.device)

    /// - Parameter sandbox: The process that decodes; nil: this one.
    private static func take(_ wishes: FrameWishes, sandbox: SandboxOptions?, hardware: DecoderSpecification = .required) throws -> Taken {
        var wanted = FrameExporterConfiguration(policy: .makeDecoderWait)
        wanted.wishes = wishes
        let exporter = FrameExporter(wanted), details = Monitor<[String]>([]), failure = Monitor<String?>(nil)
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.decoder = hardware
        if let sandbox { configuration.sandbox = sandbox }
        configuration.exporters = [exporter]
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration) { event in
            if case .detail(let sentence) = event { details.withLock { $0.append(sentence) } }
            if case .failed(let error) = event { failure.withLock { $0 = error.description } }
        }
        defer { player.close() }
        try player.open(TestAssets.path("plain.mp4"))
        var taken = Taken()
        let hash = FrameHash()
        while taken.hashes.count < frameCount, case .some(let frame) = exporter.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
            taken.descriptions.append(frame.description)
            taken.hashes.append(hash.digest(of: frame.videoFrame()))
        }
        if taken.hashes.isEmpty { _ = Polling.until { failure.withLock { $0 } != nil } }
        taken.bytesCopied = Int(player.statistics.bytesCopied)
        (taken.details, taken.failure) = (details.withLock { $0 }, failure.withLock { $0 })
        return taken
    }

    private static func process(isTiled: Bool) throws -> SandboxOptions {
        SandboxOptions(policy: .decoder, decoderPath: try SoftwareVADriver.decoder(isTiled ? ["PLAYER_VA_TILED": "1"] : [:]))
    }

    @Test func `a frame says whose memory it lies in, and a detail says who may not be able to import it`() throws {
        let taken = try Self.take(FrameWishes(), sandbox: Self.process(isTiled: false)), node = try #require(Self.node)
        #expect(taken.descriptions.count == Self.frameCount && taken.bytesCopied == 0)
        #expect(taken.descriptions.allSatisfy { $0.device == node && $0.memoryKind == .va })
        #expect(taken.details.filter { $0.contains("lie in memory of the device \(node)") }.count == 1, "\(taken.details)")
        let software = try Self.take(FrameWishes(), sandbox: nil, hardware: .software)
        #expect(software.descriptions.allSatisfy { $0.device == nil && $0.memoryKind != .va })
        #expect(!software.details.contains { $0.contains("memory of the device") })
    }

    @Test func `the same holds in one process`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            let taken = try Self.take(FrameWishes(), sandbox: nil), node = try #require(Self.node)
            #expect(taken.descriptions.count == Self.frameCount && taken.descriptions.allSatisfy { $0.device == node && $0.memoryKind == .va })
        }
    }

    @Test func `the viewer's colours reach frames in tiled memory`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_TILED": "1"])
            let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
            var configuration = PlayerConfiguration()
            (configuration.playsAudio, configuration.decoder, configuration.exporters) = (false, .required, [exporter])
            let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
            try player.open(TestAssets.path("plain.mp4"))
            guard case .some(let taken) = exporter.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) else {
                Issue.record("there is no frame")
                return
            }
            let frame = taken.videoFrame(), session = ColorBalanceSession()
            session.balance[.saturation] = -100
            let changed = try session.convert(frame), before = FrameBytes(frame).bytes, after = FrameBytes(changed).bytes
            let luma = frame.visible.width * frame.visible.height
            #expect(frame.surface.layout.modifier != .linear && changed.surface.layout.modifier == .linear && changed.pixelFormat == .nv12)
            #expect(after[..<luma] == before[..<luma] && after[luma...].allSatisfy { $0 == 128 } && Set(before[luma...]).count > 1)
            player.close()
        }
    }

    @Test func `what the client's device cannot import is converted to linear memory once, and is the same frame`() throws {
        // What hardware decodes into, made of software's frames without a loss.
        var same = FrameWishes()
        same.formats = [.nv12]
        let software = try Self.take(same, sandbox: nil, hardware: .software).hashes
        let other = DeviceNumber(rawValue: 0xe281), tiled = try Self.process(isTiled: true)
        var linear = FrameWishes(), elsewhere = FrameWishes(), here = FrameWishes()
        linear.modifiers = [.linear]
        elsewhere.device = other
        here.device = Self.node
        for wishes in [linear, elsewhere] {
            let taken = try Self.take(wishes, sandbox: tiled)
            #expect(taken.hashes == software)
            #expect(taken.bytesCopied > 0 && taken.failure == nil, "\(taken.bytesCopied) \(taken.failure ?? "")")
            #expect(taken.descriptions.allSatisfy { $0.modifier == .linear && $0.device == nil })
            #expect(taken.details.contains { $0.hasPrefix("Converts nv12") && $0.contains("the consumer") }, "\(taken.details)")
        }
        let taken = try Self.take(here, sandbox: tiled)
        #expect(taken.descriptions.count == Self.frameCount && taken.descriptions.allSatisfy { $0.modifier != .linear && $0.device == Self.node })
        #expect(taken.details.contains { $0.contains("other devices cannot import them") } && !taken.details.contains { $0.hasPrefix("Converts") })
        // Linear memory of another device may be imported.
        let shared = try Self.take(elsewhere, sandbox: Self.process(isTiled: false))
        #expect(shared.bytesCopied == 0 && shared.descriptions.allSatisfy { $0.device == Self.node })
    }
}
