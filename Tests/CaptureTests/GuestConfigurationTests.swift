import Capture
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

/// Changes of what a session runs, in the lab's virtual machine.
@Suite("Another configuration of a session", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine"))
struct GuestConfigurationTests {
    private static let small = PixelSize(width: 320, height: 180), large = PixelSize(width: 640, height: 360)

    private static func request(_ size: PixelSize) -> CaptureRequest { CaptureRequest(code: fourCC("NV12"), size: size, rate: Ratio(15, 1)) }

    /// What an output got, with each number accounted for.
    private struct Account {
        let output: VideoDataOutput
        var next: UInt64?
        var frames = 0
        var sizes: [PixelSize] = []
        /// Times at which the count began anew. A driver that is late and repeats a number makes one too.
        var restarts = 0
        var end: CaptureError??

        init(_ output: VideoDataOutput) { self.output = output }

        /// Takes deliveries until `count` more frames have come, or the end has.
        mutating func take(_ count: Int) throws {
            let wanted = frames + count, limit = MonotonicClock.shared.now() + .seconds(60)
            while frames < wanted, end == nil {
                switch try #require(output.next(until: limit), "nothing more comes") {
                case .frame(let shared):
                    let frame = shared.copy()
                    #expect(next == nil || frame.sequence == next, "\(frame.sequence) instead of \(next ?? 0)")
                    next = frame.sequence + 1
                    frames += 1
                    if sizes.last != frame.visible.size { sizes.append(frame.visible.size) }
                case .dropped(let drop):
                    #expect(next == nil || drop.first == next)
                    next = drop.first + UInt64(drop.count)
                    if drop.count == 0 { restarts += 1 }
                case .ended(let error): end = .some(error)
                }
            }
        }
    }

    @Test("exchanges outputs between two frames: the one that stays misses none, the one that goes hears of its end")
    func outputs() throws {
        var first = Account(VideoDataOutput(heldFrames: 2, discardsLateFrames: false)), second = Account(VideoDataOutput(discardsLateFrames: false))
        let third = VideoDataOutput()
        let session = CaptureSession(
            device: try CaptureDevice(path: Vivid.path), request: Self.request(Self.small), outputs: [first.output, third])
        try session.start()
        defer { session.stop() }
        try first.take(3)
        var configuration = session.configuration
        configuration.outputs[1] = second.output
        try session.configure(configuration)
        try second.take(3)
        try first.take(3)
        configuration.outputs.removeFirst()
        try session.configure(configuration)
        #expect(session.outputs.count == 1 && session.outputs[0] === second.output)
        try first.take(1000)
        try second.take(3)
        #expect(first.end == .some(nil) && second.end == nil)
        #expect(first.sizes == [Self.small] && second.sizes == [Self.small])
        #expect(first.output.statistics.waiting == 0)
        while case .some(let rest) = third.next(until: .distantPast) { if case .ended(let error) = rest { return #expect(error == nil) } }
        Issue.record("the third output hears nothing of its end")
    }

    @Test("changes the size: the frames are numbered on, and a discontinuity says where")
    func size() throws {
        var account = Account(VideoDataOutput(discardsLateFrames: false))
        let states = Monitor<[CaptureSession.State]>([])
        let session = CaptureSession(
            device: try CaptureDevice(path: Vivid.path), request: Self.request(Self.small), outputs: [account.output]
        ) { state in states.change { $0.append(state) } }
        try session.start()
        defer { session.stop() }
        try account.take(3)
        var configuration = session.configuration
        configuration.request = Self.request(Self.large)
        var before = account.restarts
        try session.configure(configuration)
        #expect(session.lastFormat?.size == Self.large)
        while account.sizes.count < 2, account.frames < 100 { try account.take(1) }
        #expect(account.sizes == [Self.small, Self.large] && account.restarts >= before + 1)
        #expect(states.withLock { $0.count } == 2)
        // More frames than the camera has buffers for.
        configuration.outputs.append(VideoDataOutput(heldFrames: 4))
        before = account.restarts
        try session.configure(configuration)
        while account.restarts < before + 1, account.frames < 200 { try account.take(1) }
        #expect(account.restarts >= before + 1 && account.end == nil)
    }

    @Test("that cannot be leaves the former one, which goes on without a gap")
    func refused() throws {
        var account = Account(VideoDataOutput(discardsLateFrames: false))
        let other = VideoDataOutput()
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: Self.request(Self.small), outputs: [account.output])
        try session.start()
        defer { session.stop() }
        try account.take(2)
        let former = session.configuration
        var missing = former
        missing.device = CaptureDevice(path: "/dev/video99", name: "Brio", driver: "none", bus: "")
        missing.outputs = [other]
        let gone = #expect(throws: CaptureError.self) { try session.configure(missing) }
        #expect(gone?.description == "/dev/video99: there is no such device.")
        var odd = former
        odd.request.size = PixelSize(width: 7, height: 5)
        let unsupported = #expect(throws: CaptureError.self) { try session.configure(odd) }
        #expect(unsupported?.code == .unsupported && unsupported?.description.contains("has no NV12 7x5") == true)
        try account.take(4)
        #expect(account.sizes == [Self.small] && account.end == nil && session.configuration.outputs.first === account.output)
        #expect(session.configuration.request == former.request && session.configuration.device == former.device)
        // A camera that starts no more with the new one starts with the former one.
        var large = former
        large.request = Self.request(Self.large)
        let only = CaptureSession(device: former.device, request: Self.request(Self.small), outputs: [other], only: .imported)
        session.stop()
        try only.start()
        defer { only.stop() }
        var second = Account(other)
        try second.take(2)
        try Vivid.set("Inject VIDIOC_STREAMON Error", to: 1)
        large.outputs = [other]
        let before = second.restarts
        let failed = #expect(throws: CaptureError.self) { try only.configure(large) }
        #expect(failed?.code == .failed, "\(failed?.description ?? "")")
        while second.restarts < before + 1, second.frames < 100 { try second.take(1) }
        #expect(second.restarts >= before + 1 && second.sizes == [Self.small] && only.lastFormat?.size == Self.small)
    }

    @Test("puts another camera in the place of the one that runs, and back, and leaves nothing open")
    func cameras() throws {
        let camera = try USBCamera(GuestCompressedTests.usual)
        defer { camera.unplug() }
        let other = try camera.device()
        try Self.exchange(try CaptureDevice(path: Vivid.path), other)
        let before = OpenDescriptors.count
        try Self.exchange(try CaptureDevice(path: Vivid.path), other)
        #expect(OpenDescriptors.settle(at: before), "\(OpenDescriptors.count) descriptors instead of \(before)")
    }

    private static func exchange(_ vivid: CaptureDevice, _ other: CaptureDevice) throws {
        var account = Account(VideoDataOutput(discardsLateFrames: false))
        let session = CaptureSession(device: vivid, request: request(small), outputs: [account.output])
        try session.start()
        defer { session.stop() }
        try account.take(3)
        var configuration = session.configuration
        (configuration.device, configuration.request) = (other, CaptureRequest(code: fourCC("MJPG")))
        var before = account.restarts
        try session.configure(configuration)
        #expect(session.device == other && session.lastFormat?.codec != nil)
        while account.sizes.count < 2, account.frames < 300 { try account.take(1) }
        try account.take(2)
        #expect(account.restarts >= before + 1)
        before = account.restarts
        (configuration.device, configuration.request) = (vivid, request(small))
        try session.configure(configuration)
        while account.sizes.count < 3, account.frames < 600 { try account.take(1) }
        try account.take(2)
        #expect(account.restarts >= before + 1 && account.sizes == [small, FilmScene.size, small])
        // The other camera is free.
        let second = CaptureSession(device: other, request: CaptureRequest(code: fourCC("MJPG")), outputs: [VideoDataOutput()])
        try second.start()
        second.stop()
    }

    @Test("of a session that does not run is looked at when it starts")
    func idle() throws {
        var account = Account(VideoDataOutput(discardsLateFrames: false))
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), outputs: [])
        var configuration = session.configuration
        configuration.outputs = [account.output]
        configuration.request = CaptureRequest(size: PixelSize(width: 7, height: 5))
        try session.configure(configuration)
        #expect(throws: CaptureError.self) { try session.start() }
        configuration.request = Self.request(Self.small)
        try session.configure(configuration)
        try session.start()
        try account.take(2)
        session.stop()
        #expect(account.sizes == [Self.small])
    }
}
