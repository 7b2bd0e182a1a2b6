import Capture
import Media
import SurfacePool
import TestSupport
import Testing

/// An input whose driver gives the fields of its frames one by one, as those of digital signals do, in the lab's virtual machine.
@Suite("A camera with alternating fields", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine"))
struct GuestFieldTests {
    private static let size = PixelSize(width: 1920, height: 1080)

    /// The first whole frame of the input: its rows of luma, and its flags.
    private static func frame() throws -> (rows: [[UInt8]], flags: VideoFrame.Flags, session: CaptureSession, output: VideoDataOutput) {
        let output = VideoDataOutput(), request = CaptureRequest(code: fourCC("GREY"))
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request, outputs: [output])
        try session.start()
        defer { session.stop() }
        while true {
            switch try #require(output.next(until: MonotonicClock.shared.now() + .seconds(120)), "\(output.statistics)") {
            case .frame(let shared):
                let frame = shared.copy(), luma = FrameBytes(frame).bytes
                #expect(frame.visible.size == size && luma.count == size.width * size.height)
                let rows = (0..<size.height).map { Array(luma[$0 * size.width..<($0 + 1) * size.width]) }
                return (rows, frame.flags, session, output)
            case .dropped: continue
            case .ended(let error): throw CaptureError(.failed, "\(error.debugDescription)")
            }
        }
    }

    @Test("has frames of both fields, every row in its place, and says which field came first")
    func woven() throws {
        try Vivid.with("num_inputs=1 input_types=0x3") {
            // Rows that are black and white in turn, and no text: all frames are the same, and no row is like its neighbours.
            let pattern = try #require(try CaptureDevice(path: Vivid.path).controls().first { $0.name == "Test Pattern" })
            let lines = try #require(pattern.items.first { $0.name == "Alternating Hor Lines" }, "\(pattern.items.map(\.name))")
            try Vivid.set("Test Pattern", to: lines.value)
            try Vivid.set("OSD Text Mode", to: 2)
            Vivid.signal(isInterlaced: false)
            let whole = try Self.frame()
            #expect(whole.flags == [] && whole.session.bufferPath == .imported)
            Vivid.signal(isInterlaced: true)
            let woven = try Self.frame()
            #expect(woven.flags == [.interlaced, .topFieldFirst], "vivid begins with the upper field where a signal has 50 fields a second")
            #expect(woven.session.bufferPath == .copied && woven.session.lastFormat?.size == Self.size)
            #expect(woven.session.lastFormat?.isInterlaced == true && woven.session.counters.bytesCopied >= 1920 * 1080)
            #expect(woven.rows == whole.rows && whole.rows[0] != whole.rows[1] && whole.rows[0] == whole.rows[2])
            let statistics = woven.output.statistics
            #expect(statistics.delivered >= 1 && statistics.dropped[.outOfBuffers] == nil, "\(statistics)")
        }
    }
}
