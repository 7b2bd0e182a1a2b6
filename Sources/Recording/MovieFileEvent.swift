public import Capture
public import Media
public import Writing

/// What happens to a recording. The counterpart of `AVCaptureFileOutputRecordingDelegate`.
public enum MovieFileEvent: Sendable {
    /// The film has begun: what was captured at this time, on CLOCK_MONOTONIC, is at 0.
    case started(HostTime)
    /// It is paused at this time of the film.
    case paused(MediaTime)
    /// It goes on at this time of the film, that of the pause.
    case resumed(MediaTime)
    /// It has ended, and the file is whole unless the end is `failed`.
    case finished(MovieFileReport, MovieFileEnd)
}

/// Why a recording has ended.
public enum MovieFileEnd: Sendable, Hashable {
    /// `stop` was called, or the session was stopped.
    case stopped
    /// The film is as long as `MovieFileSettings.maximumDuration`.
    case maximumDuration
    /// The file would become larger than `MovieFileSettings.maximumByteCount`.
    case maximumByteCount
    /// The file system has fewer bytes left than `MovieFileSettings.minimumFreeByteCount`.
    case minimumFreeByteCount
    /// The camera or the microphone was unplugged, or has failed.
    case device(CaptureError)
    /// No frame or sound came before the end, so that there is no file.
    case empty
    /// An encoder failed, or the file cannot be written. Where it has fragments, the whole ones are kept.
    case failed(ExportError)
}

/// What a recording has come to.
public struct MovieFileReport: Sendable, Hashable {
    /// When what is at 0 in the film was captured, on CLOCK_MONOTONIC; nil before.
    public var beginning: HostTime?
    /// The film's length: the newest frame's time, or the track's length of sound alone.
    public var time = MediaTime.zero
    /// Frames in the file.
    public var frames = 0
    /// Frames that the camera made between those of the film and that it does not have; pauses do not count. With `frames` they are what the driver
    /// counted from the first to the last one, and those whose number it repeated.
    public var framesDropped: [CaptureDrop.Reason: Int] = [:]
    /// The length of the track of sound; nil without one.
    public var soundTime: MediaTime?
    /// Frames of sound that the microphone made meanwhile and the film does not have: it has silence there.
    public var soundLost: [AudioCaptureLoss.Reason: Int] = [:]
    /// What encodes the frames, where a device was preferred or required: `CompressionSession.encoderLabel`; otherwise nil.
    public var videoEncoder: String?
    /// Why software encodes although a device was preferred.
    public var softwareReason: String?
    /// Bytes in the file.
    public var byteCount: Int64 = 0
    /// How often it was paused.
    public var pauses = 0
    /// Whether it is paused.
    public var isPaused = false

    /// A report of a recording that has not begun.
    public init() {}
}
