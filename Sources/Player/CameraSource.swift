package import Capture
package import Demuxing
internal import DisplaySink
internal import FrameExport
internal import Media
internal import SampleQueue
internal import SurfacePool

/// A camera as a film without an end: each frame is shown as soon as it is there, at the time since the first one.
///
/// A film that stands still keeps the frame that it shows; what the camera sees meanwhile is left out.
///
/// Thread-safety: as `SampleSource`; `setHeld` and `statistics` from any thread.
final class CameraSource: SampleSource, @unchecked Sendable {
    let session: CaptureSession
    private let output: VideoDataOutput
    private let duration: MediaTime?
    /// The time of the first frame.
    private var beginning: MediaTime?
    /// Until the first frame is on the display, no other is wanted.
    private let isHeld = Monitor(true)
    private let notices: Notices

    /// Sentences about the camera for the viewer, kept until somebody listens.
    private final class Notices: Sendable {
        private let state = Monitor<(waiting: [String], listener: (@Sendable (String) -> Void)?)>(([], nil))

        func add(_ sentence: String) {
            let listener = state.withLock { state in
                if state.listener == nil { state.waiting.append(sentence) }
                return state.listener
            }
            listener?(sentence)
        }

        func tell(_ listener: @escaping @Sendable (String) -> Void) {
            let waiting = state.withLock { state in
                state.listener = listener
                defer { state.waiting = [] }
                return state.waiting
            }
            waiting.forEach(listener)
        }
    }

    /// How long the reader waits for a frame before it looks whether there is something else to do.
    private static let glance = HostSpan.milliseconds(250)

    /// Starts the camera.
    ///
    /// - Parameters:
    ///   - name: The camera's name or path; nil: the first.
    ///   - duration: Ends after this much time; nil: never.
    ///   - reconnects: Whether a camera that is unplugged is waited for.
    ///   - holdCount: Frames that are held behind this.
    ///   - outputs: Who gets the frames besides.
    init(
        _ name: String?, _ request: CaptureRequest, duration: MediaTime?, reconnects: Bool, allocator: any SurfaceAllocator, holdCount: Int,
        outputs: [VideoDataOutput]
    ) throws(CaptureError) {
        let device = try CaptureDevice.find(name), notices = Notices(), outage = CaptureOutage()
        output = VideoDataOutput()
        session = CaptureSession(
            device: device, request: request, outputs: [output] + outputs, allocator: allocator, extraFrames: holdCount, reconnects: reconnects
        ) { state in if let sentence = outage.sentence(state) { notices.add(sentence) } }
        self.notices = notices
        self.duration = duration
        try session.start()
    }

    func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            switch output.next(until: MonotonicClock.shared.now() + Self.glance) {
            case nil:
                // An unplugged camera's time runs on.
                let now = MediaTime(nanoseconds: MonotonicClock.shared.now().nanoseconds)
                if let duration, let beginning, now - beginning >= duration, !isHeld.withLock({ $0 }) { return nil }
                return Self.pause(MediaTime(nanoseconds: Self.glance.nanoseconds))
            case .ended(nil): return nil
            case .ended(.some(let error)): throw AssetError(error)
            case .dropped: continue
            case .frame(let frame):
                let time = frame.presentationTime
                if beginning != nil, isHeld.withLock({ $0 }) { return Self.pause(frame.duration) }
                let position = time - (beginning ?? time)
                if beginning == nil { beginning = time }
                if let duration, position >= duration { return nil }
                var sample = SampleBuffer(
                    content: .image(frame), presentationTime: position, decodeTime: position, duration: frame.duration,
                    flags: [.sync, .displayImmediately])
                sample.attachments.captureTime = time.nanoseconds().map { HostTime(nanoseconds: $0) }
                return sample
            }
        }
    }

    /// Stands for a frame that is left out, or does not come: whoever asks for samples comes back, to see whether there is something else to do. It
    /// has the frame's duration, so that few of them wait.
    private static func pause(_ duration: MediaTime) -> SampleBuffer {
        var pause = SampleBuffer(marker: .drain)
        pause.duration = duration.isNumeric ? duration : MediaTime(value: 1, timescale: 25)
        return pause
    }

    func seek(to time: MediaTime) throws(AssetError) { throw AssetError.notSeekable(session.device.name) }

    func cancel() { session.stop() }

    /// Tells what happens to the camera, on its thread: that it was unplugged and is waited for, and that it is back.
    func follow(onNotice: @escaping @Sendable (String) -> Void) { notices.tell(onNotice) }

    func setHeld(_ isHeld: Bool) { self.isHeld.withLock { $0 = isHeld } }

    /// Pixel bytes that were copied out of the driver's memory.
    var bytesCopied: Int { session.counters.bytesCopied }

    /// What has become of the camera's frames.
    var statistics: PlaybackStatistics.Camera? {
        guard let format = session.lastFormat else { return nil }
        let counted = output.statistics
        return PlaybackStatistics.Camera(
            device: session.device.path, name: session.device.name, format: "\(format.code) \(format.size)", rate: format.rate,
            buffers: session.bufferPath?.rawValue ?? "", framesCounted: counted.counted, framesDelivered: counted.delivered,
            framesDropped: CaptureDrop.Reason.allCases.map { .init(reason: $0.rawValue, count: counted.dropped[$0] ?? 0) },
            interruptions: session.interruptions, drift: session.drift)
    }
}

extension OpenedSource {
    /// Finds and starts a camera.
    static func camera(
        _ name: String?, _ request: CaptureRequest, configuration: PlayerConfiguration, sink: any DisplaySink
    ) throws(AssetError) -> OpenedSource {
        let source: CameraSource
        do throws(CaptureError) {
            // Besides what displays and exporters hold: two frames in the samples' queue, one with each thread on the way.
            let exported = configuration.exporters.reduce(0) { $0 + $1.surfaceHoldCount }
            source = try CameraSource(
                name, request, duration: configuration.playDuration, reconnects: configuration.reconnectsCamera,
                allocator: sink.preferredAllocator,
                holdCount: DisplayQueue.decodedAhead + sink.surfaceHoldCount + exported + 4, outputs: configuration.cameraOutputs)
        } catch { throw AssetError(error) }
        let device = source.session.device
        var opened = OpenedSource(
            samples: source, location: device.path, title: device.name,
            duration: configuration.playDuration ?? .indefinite, videoTrack: 0,
            summary: "\(device.path): \(device.name).")
        opened.camera = source
        if let format = source.session.lastFormat {
            let how = source.session.bufferPath?.rawValue ?? ""
            let why = source.session.pathObstacles.first.map { ", because \($0)" } ?? "."
            opened.summary = "\(device.path): \(device.name), \(format.code) \(format.size) at \(format.rate), buffers \(how)\(why)"
            opened.frameRate = format.rate
            if format.rate.isKnown {
                opened.frameDuration = MediaTime(value: Int64(format.rate.denominator), timescale: format.rate.numerator)
            }
        }
        return opened
    }
}

extension AssetError {
    /// What a camera reports, as an error of a film.
    package init(_ error: CaptureError) {
        let code: Code =
            switch error.code {
            case .permission: .permission
            case .unsupported: .noPlayableTrack
            case .noDevice, .notACamera, .busy, .unplugged, .failed: .device
            case .system: .outOfResources
            }
        self.init(code, error.description)
    }
}
