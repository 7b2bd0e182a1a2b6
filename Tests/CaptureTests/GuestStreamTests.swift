import Capture
import Dispatch
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

/// Frames of the kernel's own camera, in the lab's virtual machine.
@Suite("A camera's stream", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestStreamTests {
    private static let size = PixelSize(width: 320, height: 180)

    private static func request(_ code: String = "NV12", rate: Int32 = 25) -> CaptureRequest {
        CaptureRequest(code: fourCC(code), size: size, rate: Ratio(rate, 1))
    }

    private static func session(
        _ output: VideoDataOutput, _ request: CaptureRequest = request(), only: BufferPath? = nil
    ) throws -> CaptureSession {
        CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request, outputs: [output], only: only)
    }

    /// A minute: an emulated machine is slow, and a camera that hangs is a failure.
    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// Takes deliveries until `isEnough`; the frames are let go.
    @discardableResult private static func take(
        from output: VideoDataOutput, until isEnough: (CaptureDelivery) -> Bool
    ) throws -> [CaptureDrop] {
        var drops: [CaptureDrop] = []
        let limit = soon()
        while true {
            let delivery = try #require(output.next(until: limit), "the camera gives nothing more")
            if case .dropped(let drop) = delivery { drops.append(drop) }
            if isEnough(delivery) { return drops }
            if case .ended(let error) = delivery {
                Issue.record("the camera ended: \(error.debugDescription)")
                return drops
            }
        }
    }

    /// A condition that is met by the frame with this count.
    private static func frames(_ count: Int) -> (CaptureDelivery) -> Bool {
        var taken = 0
        return { delivery in
            if case .frame = delivery { taken += 1 }
            return taken >= count
        }
    }

    @Test("is written by the driver into surfaces of the pool, without a copy, and every frame is accounted for")
    func imported() throws {
        let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false), session = try Self.session(output)
        try session.start()
        defer { session.stop() }
        guard case .running(let format) = session.state else { return #expect(Bool(false), "\(session.state)") }
        #expect(format.size == Self.size && format.pixelFormat == .nv12 && format.rate.doubleValue == 25)
        #expect(format.color.range == .limited && format.color.primaries != 2)
        var surfaces: Set<SurfaceIdentity> = [], next: UInt64 = 0, last = MediaTime.invalid, frames = 0
        let end = MonotonicClock.shared.now() + .seconds(3)
        while MonotonicClock.shared.now() < end {
            switch try #require(output.next(until: Self.soon())) {
            case .frame(let shared):
                let frame = shared.copy()
                #expect(frame.sequence == next && frame.surface.isDMABuf && frame.visible == PixelRect(Self.size))
                #expect(!last.isNumeric || frame.presentationTime > last, "times run forward")
                next += 1
                frames += 1
                last = frame.presentationTime
                surfaces.insert(frame.surface.identity)
                if frames == 1 {
                    let isFilled = unsafe frame.surface.withUnsafeBytes { unsafe $0.prefix(320 * 180).contains { $0 != 0 } }
                    #expect(isFilled)
                }
            case .dropped(let drop):
                #expect(drop.first == next)
                next += UInt64(drop.count)
            case .ended(let error): Issue.record("\(error.debugDescription)")
            }
        }
        #expect(frames > 10, "25 a second, on a slow machine")
        #expect(session.bufferPath == .imported, "\(session.pathObstacles)")
        #expect(session.counters.bytesCopied == 0)
        #expect(surfaces.count <= 6, "two held, one waiting, three of the driver's: \(surfaces.count)")
        session.stop()
        while case .some(.frame) = output.next(until: .distantPast) { next += 1 }
        #expect(output.statistics.delivered + output.statistics.dropped.values.reduce(0, +) == Int(next))
        #expect(output.statistics.waiting == 0)
    }

    @Test("has the same pixels whichever way they come", arguments: ["NV12", "YUYV"])
    func paths(code: String) throws {
        // One colour without a moving text: all frames are the same.
        try Vivid.set("Test Pattern", to: 12)
        try Vivid.set("OSD Text Mode", to: 2)
        var images: [BufferPath: [UInt8]] = [:]
        for path in [BufferPath.imported, .exported, .copied] {
            let output = VideoDataOutput(), session = try Self.session(output, Self.request(code), only: path)
            try session.start()
            var image: [UInt8] = [], byteCount = 0
            try Self.take(from: output) { delivery in
                guard case .frame(let shared) = delivery else { return false }
                let frame = shared.copy()
                byteCount = frame.pixelFormat.byteCount(width: Self.size.width, height: Self.size.height)
                image = unsafe frame.surface.withUnsafeBytes { unsafe Array($0.prefix(byteCount)) }
                return true
            }
            session.stop()
            #expect(session.bufferPath == path)
            #expect((session.counters.bytesCopied > 0) == (path == .copied))
            #expect(image.count == byteCount && Set(image).count > 1)
            images[path] = image
        }
        #expect(images[.imported] == images[.exported] && images[.exported] == images[.copied])
        try Vivid.set("Test Pattern", to: 0)
        try Vivid.set("OSD Text Mode", to: 0)
    }

    /// Items of the driver's menus by their names, and primaries, transfer, matrix and range of H.273 that frames say then.
    @Test(
        "carries the colours over that its driver states",
        arguments: [
            (["Colorspace": "Rec. 709"], [1, 1, 1], ColorRange.limited), (["Colorspace": "BT.2020"], [9, 1, 9], .limited),
            (["Colorspace": "BT.2020", "Transfer Function": "SMPTE 2084", "Quantization": "Full Range"], [9, 16, 9], .full),
            (["Colorspace": "SMPTE 170M", "Y'CbCr Encoding": "Rec. 709"], [6, 6, 1], .limited),
        ])
    func colors(wanted: [String: String], numbers: [UInt8], range: ColorRange) throws {
        let device = try CaptureDevice(path: Vivid.path), controls = try device.controls()
        var before: [(CaptureControl, Int64)] = []
        defer { for (control, value) in before { try? device.set(control, to: value) } }
        for (name, item) in wanted {
            let control = try #require(controls.first { $0.name == name }, "\(controls.map(\.name))")
            before.append((control, try device.value(of: control)))
            try device.set(control, to: #require(control.items.first { $0.name == item }, "\(control.items.map(\.name))").value)
        }
        let output = VideoDataOutput(), session = try Self.session(output)
        try session.start()
        defer { session.stop() }
        try Self.take(from: output) { delivery in
            guard case .frame(let shared) = delivery else { return false }
            let color = shared.copy().attributes.color
            #expect([color.primaries, color.transfer, color.matrix] == numbers && color.range == range)
            return true
        }
    }

    /// V4L2_STD_PAL has 625 lines, V4L2_STD_NTSC 525.
    @Test(
        "of an analog input has the size of its standard, and frames of two fields in its order",
        arguments: [(0xff, 576, Ratio(59, 54), true), (0xb000, 480, Ratio(10, 11), false)] as [(Int, Int, Ratio, Bool)])
    func fields(standard: Int, height: Int, pixelAspect: Ratio, isTopFirst: Bool) throws {
        Vivid.choose(input: 1, standard: standard)
        defer { Vivid.choose(input: 0) }
        let output = VideoDataOutput(discardsLateFrames: false), size = PixelSize(width: 720, height: height)
        let session = try Self.session(output, CaptureRequest(code: fourCC("NV12")))
        try session.start()
        defer { session.stop() }
        #expect(session.lastFormat?.size == size && session.lastFormat?.isInterlaced == true)
        try Self.take(from: output) { delivery in
            guard case .frame(let shared) = delivery else { return false }
            let frame = shared.copy()
            #expect(frame.flags == (isTopFirst ? [.interlaced, .topFieldFirst] : .interlaced))
            #expect(frame.visible.size == size && frame.attributes.pixelAspect == pixelAspect)
            return true
        }
    }

    @Test("whose driver loses frames is reported with how many")
    func lost() throws {
        try Vivid.set("Percentage of Dropped Buffers", to: 50)
        defer { try? Vivid.set("Percentage of Dropped Buffers", to: 0) }
        let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false), session = try Self.session(output)
        try session.start()
        defer { session.stop() }
        let drops = try Self.take(from: output, until: Self.frames(10))
        #expect(drops.contains { $0.reason == .discontinuity && $0.count > 0 })
        try Vivid.set("Percentage of Dropped Buffers", to: 0)
        try Vivid.set("Inject V4L2_BUF_FLAG_ERROR", to: 1)
        try Self.take(from: output) { if case .dropped(let drop) = $0 { drop.reason == .damaged } else { false } }
        try Self.take(from: output, until: Self.frames(2))
        #expect(session.state != .idle)
    }

    @Test("whose count and times wrap around goes on")
    func wrapping() throws {
        try Vivid.set("Wrap Sequence Number", to: 1)
        defer { try? Vivid.set("Wrap Sequence Number", to: 0) }
        let output = VideoDataOutput(discardsLateFrames: false), session = try Self.session(output, Self.request(rate: 50))
        try session.start()
        defer { session.stop() }
        // It begins 128 before the end.
        try Self.take(from: output) { _ in output.statistics.counted > 150 }
        // A slow machine's vivid repeats a number now and then, and skips some.
        #expect(output.statistics.counted < 1000, "\(output.statistics)")
    }

    @Test("goes on while a program holds too much, blocks, or is slow: each frame that it misses has a reason")
    func holding() throws {
        let output = VideoDataOutput(heldFrames: 1, discardsLateFrames: false), session = try Self.session(output)
        try session.start()
        defer { session.stop() }
        var held: [SharedFrame] = []
        let limit = Self.soon()
        // Every buffer.
        while held.count < 5 {
            guard case .frame(let frame) = try #require(output.next(until: limit)) else { continue }
            held.append(frame)
        }
        #expect(output.next(until: MonotonicClock.shared.now() + .milliseconds(400)) == nil, "there is no buffer left")
        guard case .running = session.state else { return #expect(Bool(false), "\(session.state)") }
        held.removeAll()
        let drops = try Self.take(from: output) { if case .dropped(let drop) = $0 { drop.reason == .outOfBuffers } else { false } }
        #expect(drops.last.map { $0.count > 3 } ?? false, "\(drops)")
        try Self.take(from: output, until: Self.frames(3))

        output.discardsLateFrames = true
        // Blocks, until some have come meanwhile.
        let before = output.statistics.dropped[.late] ?? 0
        #expect(Polling.until(every: .milliseconds(20)) { output.statistics.dropped[.late] ?? 0 > before + 2 })
        let missed = try Self.take(from: output, until: Self.frames(2)), late = missed.filter { $0.reason == .late }
        #expect(late.reduce(0) { $0 + $1.count } > 2, "\(missed)")
    }

    @Test("comes to a handler on a queue of the program's, in order and with its end")
    func handler() throws {
        let seen = Monitor<(frames: [UInt64], hasEnded: Bool)>(([], false))
        let output = VideoDataOutput(on: DispatchQueue(label: "test")) { delivery in
            switch delivery {
            case .frame(let frame): seen.change { $0.frames.append(frame.copy().sequence) }
            case .dropped: break
            case .ended(let error): seen.change { $0.hasEnded = error == nil }
            }
        }
        let session = try Self.session(output)
        try session.start()
        let _: Void? = seen.wait(until: Self.soon()) { $0.frames.count >= 5 ? () : nil }
        #expect(try session.setRate(Ratio(50, 1)).doubleValue == 50)
        let _: Void? = seen.wait(until: Self.soon()) { $0.frames.count >= 10 ? () : nil }
        session.stop()
        let _: Void? = seen.wait(until: Self.soon()) { $0.hasEnded ? () : nil }
        let (frames, hasEnded) = seen.withLock { $0 }
        #expect(frames.count >= 10 && frames == frames.sorted() && hasEnded)
        #expect(session.state == .idle)
        // And again.
        try session.start()
        let _: Void? = seen.wait(until: Self.soon()) { $0.frames.count > frames.count ? () : nil }
        session.stop()
        #expect(seen.withLock { $0.frames.count } > frames.count)
    }

    @Test("is busy while another program has it, and says what it lacks")
    func busy() throws {
        let output = VideoDataOutput(), session = try Self.session(output)
        try session.start()
        let second = try Self.session(VideoDataOutput())
        let refused = #expect(throws: CaptureError.self) { try second.start() }
        #expect(refused?.code == .busy && refused?.description == "\(Vivid.path): another program uses this camera.")
        #expect(second.state == .idle)
        session.stop()
        let odd = CaptureSession(
            device: try CaptureDevice(path: Vivid.path), request: CaptureRequest(code: fourCC("NV12"), size: PixelSize(width: 7, height: 5)),
            outputs: [VideoDataOutput()])
        let unsupported = #expect(throws: CaptureError.self) { try odd.start() }
        #expect(unsupported?.code == .unsupported && unsupported?.description.contains("has no NV12 7x5; it has NV12 320x180") == true)
        // It can be had again.
        try second.start()
        second.stop()
    }

    @Test("ends in a sentence when the driver fails or the camera is unplugged, and begins again after that")
    func ends() throws {
        let output = VideoDataOutput(), session = try Self.session(output)
        let before = OpenDescriptors.count
        try session.start()
        try Self.take(from: output, until: Self.frames(2))
        try Vivid.set("Inject Fatal Streaming Error", to: 1)
        try Self.take(from: output) { if case .ended(let error) = $0 { error?.code == .failed } else { false } }
        for _ in 0..<Vivid.rounds(2, full: 50) {
            try session.start()
            try Self.take(from: output, until: Self.frames(2))
            Vivid.unplug()
            try Self.take(from: output) { delivery in
                guard case .ended(let error) = delivery else { return false }
                #expect(error?.description == "\(Vivid.path): the camera has been unplugged.")
                return true
            }
            let gone = #expect(throws: CaptureError.self) { try session.start() }
            #expect(gone?.code == .noDevice)
            session.stop()
            try Vivid.plug()
        }
        session.stop()
        #expect(OpenDescriptors.settle(at: before), "\(OpenDescriptors.count) descriptors instead of \(before)")
    }

    @Test(
        "takes the next way for its pixels when the driver refuses one, and says why; without another it says it, and can be started again",
        arguments: ["Inject VIDIOC_REQBUFS Error", "Inject VIDIOC_QBUF Error", "Inject VIDIOC_STREAMON Error"])
    func refusals(control: String) throws {
        let output = VideoDataOutput()
        try Vivid.set(control, to: 1)
        let single = try Self.session(output, only: .imported)
        let refused = #expect(throws: CaptureError.self) { try single.start() }
        #expect(refused?.code == .failed && refused?.description.hasPrefix("\(Vivid.path): ") == true, "\(refused?.description ?? "")")
        try Vivid.set(control, to: 1)
        let session = try Self.session(output)
        try session.start()
        #expect(session.bufferPath == .exported && session.pathObstacles.count == 1, "\(session.pathObstacles)")
        try Self.take(from: output, until: Self.frames(2))
        session.stop()
        try single.start()
        try Self.take(from: output, until: Self.frames(2))
        single.stop()
    }

    @Test("whose stamps wrap around has times that run forward and are not of the future")
    func stamps() throws {
        try Vivid.set("Wrap Timestamp", to: 1)
        defer { try? Vivid.set("Wrap Timestamp", to: 0) }
        let output = VideoDataOutput(discardsLateFrames: false), session = try Self.session(output)
        try session.start()
        defer { session.stop() }
        var last = MediaTime.invalid, count = 0
        try Self.take(from: output) { delivery in
            guard case .frame(let shared) = delivery else { return false }
            let time = shared.presentationTime
            #expect(!last.isNumeric || time > last)
            #expect(time <= MediaTime(nanoseconds: MonotonicClock.shared.now().nanoseconds))
            (last, count) = (time, count + 1)
            return count == 40
        }
    }

    @Test("that is disconnected ends with the sentence of one that is unplugged")
    func disconnected() throws {
        let output = VideoDataOutput(), session = try Self.session(output)
        try session.start()
        try Self.take(from: output, until: Self.frames(2))
        try Vivid.set("Disconnect", to: 1)
        try Self.take(from: output) { if case .ended(let error) = $0 { error?.code == .unplugged } else { false } }
        session.stop()
        Vivid.unplug()
        try Vivid.plug()
        try session.start()
        try Self.take(from: output, until: Self.frames(2))
        session.stop()
    }
}
