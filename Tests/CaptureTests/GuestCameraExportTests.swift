import Capture
import Foundation
import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing

/// A camera's frames in another process, through `play --export`, in the lab's virtual machine.
@Suite("A camera on a socket", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestCameraExportTests {
    private static let size = PixelSize(width: 320, height: 180)

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// The first bytes of a frame that the driver gives to this process.
    private static func image(_ byteCount: Int) throws -> [UInt8] {
        let output = VideoDataOutput(), request = CaptureRequest(code: fourCC("NV12"), size: size, rate: Ratio(15, 1))
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request, outputs: [output])
        try session.start()
        defer { session.stop() }
        while true {
            guard case .frame(let shared) = try #require(output.next(until: soon()), "no frame comes") else { continue }
            let frame = shared.copy()
            return unsafe frame.surface.withUnsafeBytes { unsafe Array($0.prefix(byteCount)) }
        }
    }

    @Test("gives its frames as the driver wrote them, in DMA-BUFs, in order, and gets them back")
    func frames() throws {
        // One colour without a moving text: all frames are the same.
        try Vivid.set("Test Pattern", to: 12)
        try Vivid.set("OSD Text Mode", to: 2)
        defer {
            try? Vivid.set("Test Pattern", to: 0)
            try? Vivid.set("OSD Text Mode", to: 0)
        }
        let byteCount = PixelFormat.nv12.byteCount(width: Self.size.width, height: Self.size.height), expected = try Self.image(byteCount)
        #expect(Set(expected).count > 1)
        let socket = NSTemporaryDirectory() + "camera-\(UUID().uuidString.prefix(8)).sock", handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(
            Vivid.options + ["--sink", "headless", "--export", "unixfd:\(socket)", "--stats", "-"], limit: 180, handle: handle)
        defer { handle.interrupt() }
        let source = try #require(Polling.first(within: .seconds(60)) { try? RemoteFrameSource(path: socket) }, "nobody serves")
        var times: [MediaTime] = [], memory: Set<SurfaceIdentity> = []
        // Far more than the camera has buffers: each comes back to the driver.
        while times.count < 80, let frame = source.waitForFrame(until: Self.soon()) {
            let facts = frame.description
            #expect(facts.isDMABuf && facts.fourCC == fourCC("NV12") && facts.visible.size == Self.size && facts.hostTime != nil)
            let bytes = unsafe frame.withUnsafeBytes { unsafe Array($0.prefix(byteCount)) }
            #expect(bytes == expected, "frame \(times.count)")
            times.append(facts.presentationTime)
            memory.insert(facts.identity)
        }
        #expect(times.count == 80 && times == times.sorted() && Set(times).count == 80, "\(times); \(source.error?.description ?? "")")
        #expect((2..<60).contains(memory.count), "\(memory.count) surfaces")
        handle.interrupt()
        let outcome = try ended()
        let json = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)\(outcome.errors)")
        #expect(outcome.code == 0 && json["bytesCopied"] as? Int == 0, "\(outcome.output)")
    }

    @Test("of which a client keeps every frame goes on for the display, and loses nothing without a reason")
    func kept() throws {
        let socket = NSTemporaryDirectory() + "camera-\(UUID().uuidString.prefix(8)).sock", handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(
            Vivid.options + ["--sink", "headless", "--duration", "8", "--export", "unixfd:\(socket)", "--stats", "-"], limit: 180, handle: handle)
        let source = try #require(Polling.first(within: .seconds(60)) { try? RemoteFrameSource(path: socket) }, "nobody serves")
        var kept: [HeldFrame] = []
        // Until the program ends.
        while let frame = source.waitForFrame(until: Self.soon()) { kept.append(HeldFrame(frame)) }
        let outcome = try ended()
        let json = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)\(outcome.errors)")
        let counts = try #require(json["camera"] as? [String: Any], "\(outcome.output)")
        let dropped = try #require(counts["framesDropped"] as? [String: Int]).values.reduce(0, +)
        let counted = try #require(counts["framesCounted"] as? Int), delivered = try #require(counts["framesDelivered"] as? Int)
        #expect(outcome.code == 0 && (0...1).contains(counted - delivered - dropped), "\(outcome.output)")
        #expect(!kept.isEmpty && json["framesPresented"] as? Int ?? 0 > kept.count + 5, "\(kept.count) kept: \(outcome.output)")
        withExtendedLifetime(kept) {}
    }
}
