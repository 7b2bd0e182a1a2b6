package import Media

/// What has been played, and how exactly: for `--stats`.
public struct AudioStatistics: Sendable, Hashable {
    /// The device's name as given to ALSA; nil before it is open.
    public var device: String?
    /// Frames a second that the device agreed to; 0 before it is open.
    public var sampleRate = 0
    /// Channels that the device agreed to; 0 before it is open.
    public var channelCount = 0
    /// How samples are written to the device: `float32`, `int32` or `int16`; empty before it is open.
    public var sampleFormat = ""
    /// False when the device takes frames as fast as they are written (ALSA's `null` and `file`): time is then kept by the host.
    public var isPacedByDevice = true
    /// Frames of the film handed to the device.
    public var framesPlayed: Int64 = 0
    /// Frames of silence put in because the decoder had nothing.
    public var framesMissing: Int64 = 0
    /// Times that the device ran out of frames.
    public var underruns = 0
    /// Times that sound was more than 10 ms off the timebase and was corrected by a cut.
    public var realignments = 0
    /// Seconds by which sound was off the timebase, as the device reported: the mean over all checks (40 a second), late and early alike.
    public var meanOffset = 0.0
    /// The largest offset that a check has found, in seconds; late and early count alike.
    public var maximumOffset = 0.0
    /// Parts per million by which the device runs fast.
    public var drift = 0.0
    /// Packets that could not be decoded.
    public var damagedPackets = 0
    /// Processes that decoded the sound and died or hung.
    public var decoderDeaths = 0
    /// What the process that decodes the sound has given up, in words; nil when the sound is decoded in this process.
    public var sandbox: String?

    var looks = 0

    /// Adds the offset of one check, in seconds.
    mutating func addOffset(_ offset: Double) {
        looks += 1
        meanOffset += (offset.magnitude - meanOffset) / Double(looks)
        maximumOffset = max(maximumOffset, offset.magnitude)
    }
}

/// One stretch of uninterrupted playing, for tests that must know when each frame in a recording was heard.
package struct AudioPiece: Sendable, Hashable {
    /// Frames handed to the device before this piece.
    package var firstFrame: Int64
    /// `CLOCK_MONOTONIC` when its first frame was heard.
    package var began: HostTime
    /// Frames heard before it was stopped; nil while it plays.
    package var heard: Int64?
}
