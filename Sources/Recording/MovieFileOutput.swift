public import Capture
public import Media
public import Writing

/// Records what a camera and a microphone capture into film files, while it comes.
///
/// The Linux counterpart of `AVCaptureMovieFileOutput`. Its `videoOutput` and `audioOutput` are outputs of the sessions, beside others such as a
/// preview's:
///
///     let movie = MovieFileOutput(recordsSound: true) { event in … }
///     let camera = CaptureSession(device: …, outputs: [movie.videoOutput!, preview])
///     let microphone = AudioCaptureSession(device: …, outputs: [movie.audioOutput!])
///     try camera.start()
///     try microphone.start()
///     try movie.start(to: "visit.mp4", camera: camera.lastFormat, microphone: microphone.lastFormat)
///     …
///     movie.stop()
///
/// A pause leaves out what is captured meanwhile; the times after it go on where they stopped, and sound and frames stay together. One file follows
/// the other: after `finished` the next one can be started.
///
/// Thread-safety: all of it. It works on a thread of its own, `recording`.
public final class MovieFileOutput: Sendable {
    /// An output for the `CaptureSession` of the camera; nil where none is recorded. It is switched on while a file is recorded.
    public let videoOutput: VideoDataOutput?
    /// An output for the `AudioCaptureSession` of the microphone; nil where none is recorded. It is switched on while a file is recorded.
    public let audioOutput: AudioDataOutput?
    private let onEvent: @Sendable (MovieFileEvent) -> Void
    private let guarded = Monitor(Guarded())

    private struct Guarded: Sendable {
        var orders: Monitor<MovieOrders>?
        var thread: LoopThread?
        /// A `start` is under way.
        var isStarting = false
    }

    /// Frames that may wait for the encoder or be held by it: half a second of most cameras.
    private static let heldFrames = 16

    /// An output that does not record yet.
    ///
    /// - Parameters:
    ///   - recordsVideo: Whether films have the frames of a camera.
    ///   - recordsSound: Whether films have the sound of a microphone; one of the two is needed.
    ///   - onEvent: Called on the `recording` thread, with no lock held. It must not call `start` or `waitUntilFinished`.
    public init(recordsVideo: Bool = true, recordsSound: Bool = false, onEvent: @escaping @Sendable (MovieFileEvent) -> Void = { _ in }) {
        precondition(recordsVideo || recordsSound, "a film has frames or sound")
        videoOutput = recordsVideo ? VideoDataOutput(heldFrames: Self.heldFrames, discardsLateFrames: false) : nil
        audioOutput = recordsSound ? AudioDataOutput() : nil
        self.onEvent = onEvent
        setEnabled(false)
    }

    deinit { stop() }

    private func setEnabled(_ isEnabled: Bool) {
        videoOutput?.isEnabled = isEnabled
        audioOutput?.isEnabled = isEnabled
    }

    /// Begins a film with the next frame, or with the next sound where there is no camera.
    ///
    /// - Parameters:
    ///   - path: The file; its ending names the container.
    ///   - camera: What the camera delivers, as `CaptureSession.lastFormat`; needed where there is a `videoOutput`.
    ///   - microphone: What the microphone delivers, as `AudioCaptureSession.lastFormat`; needed where there is an `audioOutput`.
    /// - Throws: `ExportError`: the file cannot be created, its container cannot hold the codecs, an encoder is missing, a device does not run, or a
    ///   film is being recorded.
    public func start(
        to path: String, settings: MovieFileSettings = MovieFileSettings(), camera: ActiveFormat? = nil, microphone: AudioCaptureFormat? = nil
    ) throws(ExportError) {
        let isFree = guarded.withLock { guarded in
            let isRecording = guarded.orders?.withLock { $0.end == nil } ?? false, isFree = !guarded.isStarting && !isRecording
            if isFree { guarded.isStarting = true }
            return isFree
        }
        guard isFree else { throw .output(WritingError(.notWriting, path, "the output is recording another file")) }
        defer { guarded.change { $0.isStarting = false } }
        guarded.withLock { $0.thread.take() }?.join()
        if videoOutput != nil, camera == nil { throw .output(WritingError(.notWriting, path, "the camera does not run")) }
        if audioOutput != nil, microphone == nil { throw .output(WritingError(.notWriting, path, "the microphone does not run")) }
        let orders = Monitor(MovieOrders())
        let recording = try MovieRecording(
            path: path, settings: settings, camera: Self.both(camera, videoOutput), microphone: Self.both(microphone, audioOutput), orders: orders
        ) { [onEvent, videoOutput, audioOutput] event in
            if case .finished = event {
                videoOutput?.isEnabled = false
                audioOutput?.isEnabled = false
            }
            onEvent(event)
        }
        setEnabled(true)
        let thread = LoopThread(name: "recording") { recording.run() }
        guarded.withLock { guarded in
            guarded.orders = orders
            guarded.thread = thread
        }
    }

    private static func both<A, B>(_ a: A?, _ b: B?) -> (A, B)? {
        if let a, let b { (a, b) } else { nil }
    }

    private var orders: Monitor<MovieOrders>? { guarded.withLock { $0.orders } }

    /// Leaves out what is captured from now on. Does nothing when no film is recorded, or it is paused.
    public func pause() { pause(at: MonotonicClock.shared.now) }

    /// Goes on with what is captured from now on. Does nothing to a film that is not paused.
    public func resume() { resume(at: MonotonicClock.shared.now) }

    package func pause(at time: () -> HostTime) { orders?.change { if !$0.isPausing { $0.pauses.append(time()) } } }

    package func resume(at time: () -> HostTime) { orders?.change { if $0.isPausing { $0.pauses.append(time()) } } }

    /// Whether the newest order is to pause.
    public var isPausing: Bool { orders?.withLock { $0.isPausing } ?? false }

    /// Notes something about a moment: a marker that a viewer has set, a place, what a detector has found in a frame. It is written beside the frames
    /// at the time of the film at which that moment is; what was captured in a pause, or before the film, is left out. Does nothing when no film is
    /// recorded, or one without `MovieFileSettings.recordsMetadata`.
    ///
    /// - Parameter time: On CLOCK_MONOTONIC, such as the time of a frame; nil: now.
    public func add(_ items: [MetadataItem], at time: HostTime? = nil) {
        guard !items.isEmpty else { return }
        orders?.change { $0.notes.append(MovieOrders.Note(items: items, time: time ?? MonotonicClock.shared.now())) }
    }

    /// Ends the film with what has been captured until now. Returns at once; `finished` follows when the file is whole. Does nothing when no film is
    /// recorded.
    public func stop() { stop(at: MonotonicClock.shared.now) }

    package func stop(at time: () -> HostTime) { orders?.change { if $0.stop == nil { $0.stop = time() } } }

    /// Whether a film is recorded, paused or completed.
    public var isRecording: Bool { orders?.withLock { $0.end == nil } ?? false }

    /// What the film that is recorded, or was recorded last, has come to; nil before the first.
    public var report: MovieFileReport? { orders?.withLock { $0.report } }

    /// Waits until the film is complete, or until `deadline` (CLOCK_MONOTONIC; nil: for ever), then nil. Nil also when none was started.
    @discardableResult public func waitUntilFinished(until deadline: HostTime? = nil) -> MovieFileEnd? {
        orders?.wait(until: deadline) { $0.end }
    }
}
