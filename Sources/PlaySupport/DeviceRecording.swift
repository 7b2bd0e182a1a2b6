public import Capture
internal import Demuxing
internal import Media
public import Player
public import Recording
internal import Writing

/// Records a camera, a microphone or both into a file: what `play record` does.
///
/// Finds the devices, runs their sessions and a `MovieFileOutput`. A camera or a microphone that is unplugged ends the film, which is whole.
///
/// Thread-safety: `run` once, on one thread, which it blocks; the rest from any thread.
public final class DeviceRecording: Sendable {
    /// A device that is recorded.
    public struct Wish<Request: Sendable>: Sendable {
        /// Its name; nil: the first camera, the system's microphone.
        public var name: String?
        /// What to ask of it.
        public var request: Request

        /// Makes a wish.
        public init(_ name: String?, _ request: Request) { (self.name, self.request) = (name, request) }
    }

    /// How devices are recorded.
    public struct Options: Sendable {
        /// Nil: sound alone.
        public var camera: Wish<CaptureRequest>?
        /// Nil: no sound.
        public var microphone: Wish<AudioCaptureRequest>?
        /// How the film is recorded.
        public var settings = MovieFileSettings()
        /// Whether a camera that is unplugged is waited for. The frame before stays until it is back.
        public var reconnects = false
        /// Called with sentences for the viewer, on any thread: the camera is waited for, it is back.
        public var onNotice: @Sendable (String) -> Void = { _ in }
        /// Called on the recording's thread.
        public var onEvent: @Sendable (MovieFileEvent) -> Void = { _ in }

        /// Makes options that record nothing yet.
        public init() {}
    }

    /// What a recording has come to.
    public struct Report: Sendable, Hashable {
        /// The film.
        public var film = MovieFileReport()
        /// Why it has ended.
        public var end = MovieFileEnd.stopped
        /// How often the camera was unplugged and waited for.
        public var interruptions = 0
        /// How much faster than CLOCK_MONOTONIC the microphone's crystal runs; 50e-6 gains 50 µs a second. The track does not.
        public var drift = 0.0
    }

    /// What pauses, resumes and ends the film.
    public let movie: MovieFileOutput
    /// Takes frames as images beside the film; nil without a camera.
    public let stills: StillFrameOutput?
    /// For a session that is not the recording's own: a player's that shows the camera.
    public var cameraOutputs: [VideoDataOutput] { [movie.videoOutput, stills?.videoOutput].compactMap(\.self) }
    private let path: String
    private let options: Options
    private let camera: CaptureSession?
    private let microphone: AudioCaptureSession?

    /// Finds the devices.
    /// - Parameter isShown: Whether a player shows the camera, and runs its session with `cameraOutputs`; `run` is told of it.
    public init(to path: String, options: Options, isShown: Bool = false) throws(PlayerError) {
        self.path = path
        self.options = options
        let hasCamera = options.camera != nil, stills = hasCamera ? StillFrameOutput() : nil
        let movie = MovieFileOutput(recordsVideo: hasCamera, recordsSound: options.microphone != nil, onEvent: options.onEvent)
        (self.movie, self.stills) = (movie, stills)
        do throws(CaptureError) {
            let own = isShown ? nil : options.camera, outage = CaptureOutage()
            camera = try own.map { wish throws(CaptureError) in
                CaptureSession(
                    device: try CaptureDevice.find(wish.name), request: wish.request,
                    outputs: [movie.videoOutput, stills?.videoOutput].compactMap(\.self), reconnects: options.reconnects
                ) { state in if let sentence = outage.sentence(state) { options.onNotice(sentence) } }
            }
            microphone = try options.microphone.map { wish throws(CaptureError) in
                AudioCaptureSession(
                    device: try AudioCaptureDevice.find(wish.name), request: wish.request, outputs: [movie.audioOutput].compactMap(\.self))
            }
        } catch { throw PlayerError(error) }
    }

    /// How often it is looked whether to end.
    private static let glance = HostSpan.milliseconds(100)

    /// Records until a limit is reached, `isEnded` says so, or a device ends; then completes the file.
    ///
    /// - Parameters:
    ///   - shown: The session of the player that shows the camera, which runs.
    ///   - isEnded: Asked ten times a second, which is a good moment to draw the report too.
    /// - Throws: What a device, an encoder or the file reports. After an error of a device or an encoder the file is complete all the same, unless
    ///   nothing had come; when it cannot be written any further, it has its whole fragments, or is gone if it was written in one piece.
    public func run(shown: CaptureSession? = nil, isEnded: () -> Bool) throws(PlayerError) -> Report {
        defer {
            camera?.stop()
            microphone?.stop()
        }
        do throws(CaptureError) {
            try microphone?.start()
            try camera?.start()
        } catch { throw PlayerError(error) }
        do throws(ExportError) {
            try movie.start(
                to: path, settings: options.settings, camera: (camera ?? shown)?.lastFormat, microphone: microphone?.lastFormat)
        } catch { throw PlayerError(error) }
        var end: MovieFileEnd?
        while end == nil {
            if isEnded() { movie.stop() }
            end = movie.waitUntilFinished(until: MonotonicClock.shared.now() + Self.glance)
        }
        var report = Report()
        report.film = movie.report ?? MovieFileReport()
        report.interruptions = (camera ?? shown)?.interruptions ?? 0
        report.drift = microphone?.drift ?? 0
        switch end {
        case .device(let error): throw PlayerError(error)
        case .failed(let error): throw PlayerError(error)
        case .empty: throw PlayerError(.cutShort, "\(path): \(options.camera == nil ? "the microphone gave no sound" : "the camera gave no frame").")
        case .some(let end): report.end = end
        case nil: break
        }
        return report
    }
}

extension PlayerError {
    /// Makes the error for what a camera or a microphone reports.
    public init(_ error: CaptureError) { self.init(AssetError(error)) }
}
