public import Media

/// A piece of sound from a microphone.
public struct AudioCaptureBlock: Sendable, Hashable {
    /// Interleaved floats: `frameCount` times `channelCount`. Full scale is -1 to 1.
    public var samples: [Float]
    /// Frames a second, as the device counts them. Its crystal runs some millionths faster or slower than CLOCK_MONOTONIC.
    public var sampleRate: Int
    /// Samples in a frame.
    public var channelCount: Int
    /// The first frame's number among all since the start, from 0, those that were lost included.
    public var number: UInt64
    /// When the first frame was captured, on CLOCK_MONOTONIC: measured at the device, smoothed over many blocks.
    public var time: HostTime

    /// Makes a block.
    public init(samples: [Float], sampleRate: Int, channelCount: Int, number: UInt64, time: HostTime) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.number = number
        self.time = time
    }

    /// The number of frames.
    public var frameCount: Int { samples.count / max(channelCount, 1) }
}

/// Frames of sound that a microphone made and nobody gets, one after the other and for the same reason.
public struct AudioCaptureLoss: Sendable, Hashable {
    /// Why frames are not delivered.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The device's buffer was full before this machine came to read it. How many frames that cost follows from the time that passed.
        case overrun
        /// They waited for the program until the output had no room for more.
        case late
        /// The connection to the output is switched off (`AudioDataOutput.isEnabled`).
        case switchedOff = "switched-off"
    }

    /// Why.
    public var reason: Reason
    /// How many frames.
    public var count: Int
    /// The first one's number among all since the start.
    public var first: UInt64
    /// When the frame after them was captured, on CLOCK_MONOTONIC.
    public var time: HostTime

    /// Makes a report.
    public init(_ reason: Reason, count: Int, first: UInt64, time: HostTime) {
        self.reason = reason
        self.count = count
        self.first = first
        self.time = time
    }
}

/// What an output gives to a program, in the order of capture.
public enum AudioCaptureDelivery: Sendable, Hashable {
    /// Sound.
    case block(AudioCaptureBlock)
    /// Sound that is not delivered.
    case lost(AudioCaptureLoss)
    /// Nothing follows: the session was stopped (nil), or has failed.
    case ended(CaptureError?)
}

/// What has become of a microphone's frames of sound since the start.
public struct AudioCaptureStatistics: Sendable, Hashable {
    /// Frames that the program got.
    public var delivered = 0
    /// Frames that it did not get.
    public var lost: [AudioCaptureLoss.Reason: Int] = [:]
    /// Frames that wait for the program.
    public var waiting = 0
    /// How often the device's buffer ran over.
    public var overruns = 0

    /// Makes counters that stand at 0.
    public init() {}

    /// Frames that the device made.
    public var counted: Int { delivered + waiting + lost.values.reduce(0, +) }
}
