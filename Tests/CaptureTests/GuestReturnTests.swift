import Capture
import Demuxing
import DisplaySink
import Foundation
import Media
import Player
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// A camera that is unplugged and waited for, in the lab's virtual machine.
@Suite("A camera that returns", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestReturnTests {
    private static let size = PixelSize(width: 320, height: 180)
    private static let request = CaptureRequest(code: fourCC("NV12"), size: size, rate: Ratio(15, 1))

    /// A limit that only a hang reaches.
    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// Threads of this program that run cameras.
    private static func cameraThreads() -> Int { threads(of: getpid()).count { $0 == "camera" } }

    /// The names of a program's threads; none when it has ended.
    private static func threads(of process: Int32) -> [String] {
        let folder = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { number in
            (try? String(contentsOfFile: "\(folder)/\(number)/comm", encoding: .utf8))?.trimmingCharacters(in: .newlines)
        }
    }

    /// Waits until a program's camera runs; false when the program ends before.
    private static func runs(_ handle: PlayProgram.Handle) throws -> Bool {
        let process = try #require(Polling.first(within: .seconds(60)) { handle.processIdentifier })
        return Polling.first(within: .seconds(60), every: .milliseconds(20)) {
            threads(of: process).contains("camera") ? true : handle.isRunning ? nil : false
        } ?? false
    }

    @Test("goes on where it was, as often as it is unplugged, and leaves neither descriptors nor threads behind")
    func storm() throws {
        let states = Monitor<[CaptureSession.State]>([])
        let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false)
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: Self.request, outputs: [output], reconnects: true) {
            state in states.change { $0.append(state) }
        }
        /// Takes everything that waits, up to the end. What is not taken keeps its memory.
        func drain() {
            func isEnd(_ delivery: CaptureDelivery?) -> Bool { if case .ended = delivery { true } else { false } }
            while !isEnd(output.next(until: .distantPast)) {}
        }
        // Opens what makes the memory of frames.
        try session.start()
        session.stop()
        drain()
        let before = OpenDescriptors.count, threadsBefore = Self.cameraThreads()
        try session.start()
        defer { session.stop() }
        #expect(try session.setRate(Ratio(30, 1)) == Ratio(30, 1))
        var next: UInt64 = 0, returns = 0, held: SharedFrame?
        /// Takes frames until there are `count` after so many returns; the newest is held.
        func take(_ count: Int, after round: Int) throws {
            var taken = 0
            while taken < count || returns < round {
                switch try #require(output.next(until: Self.soon()), "no frame comes: \(session.state)") {
                case .frame(let frame):
                    #expect(frame.copy().sequence == next)
                    next += 1
                    taken += 1
                    held = frame
                case .dropped(let drop):
                    #expect(drop.first == next)
                    next += UInt64(drop.count)
                    if drop.count == 0 { returns += 1 }
                case .ended(let error):
                    Issue.record("it ended: \(error.debugDescription)")
                    return
                }
            }
        }
        try take(2, after: 0)
        let rounds = Vivid.rounds(4, full: 50)
        for round in 1...rounds {
            Vivid.unplug()
            let sentence = states.wait(until: Self.soon()) { states -> String? in
                if case .interrupted(let error) = states.last { error.description } else { nil }
            }
            #expect(sentence == "\(Vivid.path): the camera has been unplugged.")
            try Vivid.plug()
            let isBack: Void? = states.wait(until: Self.soon()) { if case .running = $0.last { () } else { nil } }
            try #require(isBack != nil, "\(session.state)")
            try take(2, after: round)
            #expect(session.interruptions == round)
        }
        #expect(held != nil && output.statistics.counted >= Int(next))
        #expect(session.lastFormat?.rate == Ratio(30, 1), "as it was set while it ran")
        session.stop()
        held = nil
        drain()
        #expect(session.state == .idle)
        // The kernel lists a thread for a moment after it has been waited for.
        #expect(Polling.until { Self.cameraThreads() == threadsBefore })
        #expect(OpenDescriptors.settle(at: before), "\(OpenDescriptors.targets) instead of \(before)")
    }

    @Test("is found under another path, and the wait for it can be ended")
    func path() throws {
        let states = Monitor<[CaptureSession.State]>([]), output = VideoDataOutput()
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: Self.request, outputs: [output], reconnects: true) {
            state in states.change { $0.append(state) }
        }
        try session.start()
        defer { session.stop() }
        // The kernel keeps the number of a device that a program has open.
        let opened = unsafe open(Vivid.path, O_RDWR | O_CLOEXEC)
        try #require(opened >= 0)
        Vivid.unplug()
        try Vivid.plug()
        let isBack = Polling.until(within: .seconds(60)) { session.interruptions == 1 && session.device.path != Vivid.path }
        #expect(isBack && session.device.name == "vivid", "\(session.device) \(session.state)")
        close(opened)
        Vivid.unplug()
        let isOut: Void? = states.wait(until: Self.soon()) { if case .interrupted = $0.last { () } else { nil } }
        #expect(isOut != nil)
        session.stop()
        #expect(session.state == .idle)
        while let delivery = output.next(until: .distantPast) {
            guard case .ended(let error) = delivery else { continue }
            #expect(error == nil)
            break
        }
        try Vivid.plug()
        #expect((try? CaptureDevice(path: Vivid.path)) != nil)
    }

    /// Unplugs the camera of a program that shows or records it, and plugs it in again. Does nothing to a program that ends before.
    private func interrupt(_ handle: PlayProgram.Handle, isPlugged: Bool = true, when hasBegun: () -> Bool = { true }) throws {
        guard try Self.runs(handle), Polling.until(within: .seconds(60), { hasBegun() }), let process = handle.processIdentifier else { return }
        Vivid.unplug()
        // The program watches device files while it waits.
        func isWaiting() -> Bool {
            let folder = "/proc/\(process)/fd"
            let links = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return links.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.contains("inotify") == true }
        }
        try #require(Polling.until(within: .seconds(60)) { isWaiting() }, "the program does not wait")
        guard isPlugged else { return }
        try Vivid.plug()
        try #require(Polling.until(within: .seconds(60)) { !isWaiting() }, "the program still waits")
    }

    private static let outage = """
        \(Vivid.path): the camera has been unplugged; waiting for its return.
        The camera is back.

        """

    @Test("is shown again, and a seek meanwhile is answered")
    func player() throws {
        let sentences = Monitor<[String]>([])
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.reconnectsCamera = true
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            switch event {
            case .notice(let sentence): sentences.change { $0.append(sentence) }
            case .failed(let error): sentences.change { $0.append("failed: \(error)") }
            default: break
            }
        }
        defer { player.close() }
        try player.open(.camera("vivid", Self.request))
        func shown() -> Int { player.statistics.framesPresented }
        try #require(Polling.until(within: .seconds(60)) { shown() >= 3 })
        Vivid.unplug()
        func wait(for part: String) -> String? { sentences.wait(until: Self.soon()) { $0.first { $0.contains(part) } } }
        #expect(wait(for: "unplugged") == "\(Vivid.path): the camera has been unplugged; waiting for its return.")
        player.seek(to: .zero)
        #expect(wait(for: "cannot")?.isEmpty == false, "\(sentences.withLock { $0 })")
        try Vivid.plug()
        #expect(wait(for: "back") == "The camera is back.")
        let before = shown()
        let goesOn = Polling.until(within: .seconds(60)) { shown() >= before + 5 }
        #expect(goesOn && player.isPlaying && player.statistics.camera?.interruptions == 1, "\(sentences.withLock { $0 })")
    }

    @Test("is shown again with --reconnect")
    func shown() throws {
        let handle = PlayProgram.Handle(), log = NSTemporaryDirectory() + "return-\(UUID().uuidString.prefix(8)).log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        let program = PlayProgram.begin(
            Vivid.options + ["--reconnect", "--sink", "headless", "--stats", "-"], limit: 120, handle: handle,
            launcher: ["bash", "-c", "exec \"$0\" \"$@\" 2>'\(log)'"])
        func told() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        try interrupt(handle)
        #expect(Polling.until { told().contains("The camera is back.") || !handle.isRunning })
        handle.interrupt()
        let outcome = try program()
        #expect(outcome.code == 0 && told().contains(Self.outage), "\(told())")
        let json = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)")
        let camera = try #require(json["camera"] as? [String: Any])
        #expect(camera["interruptions"] as? Int == 1)
    }

    @Test("ends playback in one sentence and with code 69 without it")
    func ends() throws {
        let handle = PlayProgram.Handle()
        let program = PlayProgram.begin(Vivid.options + ["--sink", "headless"], limit: 120, handle: handle)
        if try Self.runs(handle) { Vivid.unplug() }
        let outcome = try program()
        try Vivid.plug()
        #expect(outcome.code == 69 && outcome.errors.hasSuffix("play: \(Vivid.path): the camera has been unplugged.\n"), "\(outcome.errors)")
    }

    @Test("is recorded on, and --duration ends while it is away", arguments: [true, false])
    func recorded(returns: Bool) throws {
        let path = NSTemporaryDirectory() + "return-\(UUID().uuidString.prefix(8)).mp4"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let handle = PlayProgram.Handle()
        // Long enough for a slow machine to unplug it meanwhile.
        let ending = returns ? [] : ["--duration", "10"]
        let program = PlayProgram.begin(["record", path, "--reconnect"] + Vivid.options + ending, limit: 120, handle: handle)
        // It has its name from the first fragment on.
        try interrupt(handle, isPlugged: returns) { FileManager.default.fileExists(atPath: path) }
        if returns { handle.interrupt() }
        let outcome = try program()
        if !returns { try Vivid.plug() }
        #expect(outcome.code == 0 && outcome.errors.contains(", unplugged once.\n"), "\(outcome.errors)")
        let reader = try AssetReader(url: path)
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { times.append(sample.presentationTime) }
        #expect(!times.isEmpty && Set(times).count == times.count)
    }
}
