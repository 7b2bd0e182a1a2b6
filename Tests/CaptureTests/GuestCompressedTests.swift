import Capture
import Encoding
import Foundation
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// A USB camera that gives Motion-JPEG and H.264, in the lab's virtual machine.
@Suite("A USB camera's compressed frames", .serialized, .enabled(if: USBCamera.isHere, "only in the lab's virtual machine"))
struct GuestCompressedTests {
    /// Fifty frames of the scene, as each format has them.
    private static let film: [UInt8: [[UInt8]]] = [
        USBCameraDescriptors.jpeg: try! encode("mjpeg"), USBCameraDescriptors.h264: try! encode("h264"),
    ]

    private static func encode(_ codec: String) throws -> [[UInt8]] {
        let scene = FilmScene()
        var options = EncoderOptions(pixelFormat: .yuv420p)
        if codec == "h264" {
            (options.properties.isRealTime, options.properties.keyFrameInterval) = (true, 10)
        } else {
            options.properties.quality = 0.8
        }
        let wanted = VideoFormat(
            codec: VideoCodec(name: codec), codedSize: FilmScene.size, attributes: FrameAttributes(color: scene.format.color),
            frameRate: Ratio(25, 1))
        let session = try CompressionSession(format: wanted, options: options)
        var frames: [[UInt8]] = [], writer = ElementaryStreamWriter()
        func receive(_ answer: EncodeOutput) {
            guard case .sample(let sample, _) = answer, case .compressed(let block, _) = sample.content else { return }
            var bytes: [UInt8] = []
            if codec == "mjpeg" {
                bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
            } else {
                try? unsafe writer.forEachPiece(of: sample) { unsafe bytes += Array($0) }
            }
            frames.append(bytes)
        }
        for number in 0..<50 {
            try session.encode(scene.frame(number).copy(), time: MediaTime(value: Int64(number), timescale: 25), output: receive)
        }
        try session.completeFrames(output: receive)
        try #require(frames.count == 50)
        return frames
    }

    static let usual: USBCamera.Content = { format, number in film[format]?[number % 50] }

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// What JPEG, whose range is full, makes of a value of limited range; H.264 keeps the scene's.
    private static func expected(_ number: Int, _ code: String) -> ClosedRange<Int> {
        let luma = Int(FilmScene.luma(number))
        let full = Int((Double(luma - 16) * 255 / 219).rounded())
        return code == "MJPG" ? min(luma, full) - 3...max(luma, full) + 3 : luma - 3...luma + 3
    }

    @Test("are offered and read, and the camera says its name, its port and its serial number")
    func discovery() throws {
        let camera = try USBCamera(Self.usual)
        defer { camera.unplug() }
        let device = try camera.device(), formats = try device.formats()
        #expect(formats.map(\.summary) == ["MJPG 160x96 at 25, 10", "H264 160x96 at 25, 10"])
        #expect(formats.allSatisfy(\.isReadable) && formats.map { $0.codec?.name } == ["mjpeg", "h264"])
        #expect(device.name.contains("Test Camera") && device.serial == "0042" && device.bus.hasPrefix("usb-vhci_hcd"))
        let listed = try PlayProgram.run(["devices"]).output
        #expect(try #/✓ +MJPG +160x96 at 25, 10\n *✓ +H264 /#.firstMatch(in: listed) != nil, "\(listed)")
    }

    @Test("are decoded into surfaces, each with its number and the time of the driver", arguments: ["MJPG", "H264"])
    func decoded(code: String) throws {
        let camera = try USBCamera(Self.usual)
        defer { camera.unplug() }
        let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false)
        let session = CaptureSession(
            device: try camera.device(), request: CaptureRequest(code: fourCC(code), rate: Ratio(10, 1)), outputs: [output])
        try session.start()
        defer { session.stop() }
        guard case .running(let format) = session.state else { return #expect(Bool(false), "\(session.state)") }
        #expect(format.size == FilmScene.size && format.codec != nil && format.rate == Ratio(10, 1) && session.bufferPath == .decoded)
        var next: UInt64 = 0, last = MediaTime.invalid, frames = 0
        while frames < 30 {
            switch try #require(output.next(until: Self.soon())) {
            case .frame(let shared):
                let frame = shared.copy()
                #expect(frame.sequence == next && frame.surface.isDMABuf && frame.visible == PixelRect(FilmScene.size))
                #expect(!last.isNumeric || frame.presentationTime > last, "times run forward")
                let luma = frame.meanLevel
                #expect(Self.expected(Int(next), code).contains(luma), "\(next) has \(luma)")
                (next, last, frames) = (next + 1, frame.presentationTime, frames + 1)
            case .dropped(let drop):
                #expect(drop.first == next)
                next += UInt64(drop.count)
            case .ended(let error): return #expect(Bool(false), "\(error.debugDescription)")
            }
        }
        #expect(session.counters.bytesCopied == 0)
        session.stop()
        while let delivery = output.next(until: .distantPast) { if case .ended = delivery { break } }
        #expect(output.statistics.waiting == 0 && output.statistics.counted >= Int(next), "\(output.statistics)")
    }

    @Test("that a program holds, or that are damaged, are lost with their reasons", arguments: ["MJPG", "H264"])
    func lost(code: String) throws {
        // Each twentieth frame is cut in its middle.
        let camera = try USBCamera { format, number in
            guard let frame = Self.usual(format, number) else { return nil }
            return number % 20 == 15 ? Array(frame.prefix(frame.count / 2)) + [UInt8](repeating: 0x55, count: 40) : frame
        }
        defer { camera.unplug() }
        let output = VideoDataOutput(heldFrames: 1, discardsLateFrames: false)
        let session = CaptureSession(device: try camera.device(), request: CaptureRequest(code: fourCC(code)), outputs: [output])
        try session.start()
        defer { session.stop() }
        var next: UInt64 = 0, reasons: Set<CaptureDrop.Reason> = [], held: [SharedFrame] = []
        func take() throws {
            switch try #require(output.next(until: Self.soon())) {
            case .frame(let frame):
                #expect(frame.copy().sequence == next)
                next += 1
                held.append(frame)
            case .dropped(let drop):
                #expect(drop.first == next)
                next += UInt64(drop.count)
                reasons.insert(drop.reason)
            case .ended(let error): Issue.record("\(error.debugDescription)")
            }
        }
        while !reasons.contains(.damaged), next < 200 {
            try take()
            held.removeAll()
        }
        #expect(reasons.contains(.damaged), "\(reasons)")
        // Until there is no surface left, and no room for compressed frames either.
        reasons = []
        while !reasons.contains(.outOfBuffers) { try take() }
        #expect(held.count >= 2)
        let before = camera.sent
        #expect(Polling.until { camera.sent > before + 10 }, "the camera goes on")
        held.removeAll()
        while held.count < 3 { try take() }
        guard case .running = session.state else { return #expect(Bool(false), "\(session.state)") }
    }

    @Test("are shown on a monitor and recorded, until the plug is pulled", arguments: ["MJPG", "H264"])
    func programs(code: String) throws {
        let camera = try USBCamera(Self.usual)
        let path = try camera.device().path, film = NSTemporaryDirectory() + "usb-\(UUID().uuidString.prefix(8)).mp4"
        defer { try? FileManager.default.removeItem(atPath: film) }
        let shown = try PlayProgram.run([
            "--camera", "Test Camera", "--camera-format", code, "--camera-rate", "10", "--sink", "kms", "--connector", Shell.run("lab-card vkms"),
            "--mode", "640x480", "--duration", "3", "--stats", "-",
        ])
        let json = try #require(JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any], "\(shown.output)")
        let told = try #require(json["camera"] as? [String: Any])
        #expect(shown.code == 0 && told["buffers"] as? String == "decoded" && json["framesPresented"] as? Int ?? 0 >= 2, "\(shown)")
        let handle = PlayProgram.Handle()
        let program = PlayProgram.begin(
            ["record", film, "--camera", path, "--camera-format", code, "--camera-rate", "10", "--video", "mjpeg"], limit: 200, handle: handle)
        #expect(Polling.until { (try? FilmScene.frames(of: film).count) ?? 0 > 10 })
        camera.unplug()
        let outcome = try program()
        #expect(outcome.code == 69 && outcome.errors.hasSuffix("play: \(path): the camera has been unplugged.\n"), "\(outcome.errors)")
        #expect(try FilmScene.frames(of: film).count > 10)
    }
}
