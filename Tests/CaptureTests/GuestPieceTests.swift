import Capture
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

/// A camera whose driver writes each plane to memory of its own, as many of systems on a chip do, in the lab's virtual machine.
@Suite("A camera with planes in pieces of memory", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine"))
struct GuestPieceTests {
    private static let size = PixelSize(width: 320, height: 180)

    /// The rows of all planes of a frame, without what lies between them.
    private static func pixels(_ code: String) throws -> (image: [UInt8], path: BufferPath?, copied: Int) {
        let request = CaptureRequest(code: fourCC(code), size: size, rate: Ratio(15, 1)), output = VideoDataOutput()
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request, outputs: [output])
        try session.start()
        defer { session.stop() }
        while true {
            guard case .frame(let shared) = try #require(output.next(until: MonotonicClock.shared.now() + .seconds(60))) else { continue }
            return (FrameBytes(shared.copy()).bytes, session.bufferPath, session.counters.bytesCopied)
        }
    }

    @Test("has the same pixels as one with a single piece, for one copy")
    func pieces() throws {
        try Vivid.with("num_inputs=1 input_types=0x0 multiplanar=2") {
            // A frame without a moving text: all frames are the same.
            try Vivid.set("OSD Text Mode", to: 2)
            let codes = try CaptureDevice(path: Vivid.path).formats().filter(\.isReadable).map(\.code.description)
            // NM16 of vivid begins behind the first bytes of its memory.
            for (one, pieces) in [("NV12", "NM12"), ("NV16", "NM16"), ("YU12", "YM12")] {
                try #require(codes.contains(one) && codes.contains(pieces), "\(codes)")
                let whole = try Self.pixels(one), parts = try Self.pixels(pieces)
                #expect(whole.path == .imported && whole.copied == 0 && parts.path == .copied && parts.copied > 0, "\(pieces)")
                #expect(whole.image == parts.image && Set(whole.image).count > 8, "\(pieces)")
            }
            let choice = CaptureRequest(size: Self.size).choose(from: try CaptureDevice(path: Vivid.path).formats())
            #expect(choice?.code == fourCC("NV12"), "what needs no copy is preferred")
        }
    }
}
