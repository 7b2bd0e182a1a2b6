public import Media

/// A stretch of decoded sound: interleaved floats, whatever the codec.
///
/// Thread-safety: a value.
public struct SoundBuffer: Sendable, Hashable {
    /// The time of the first frame of sound, in media time: exactly `position / sampleRate`.
    public let presentationTime: MediaTime
    /// The first frame's number, counted from media time 0.
    public let position: Int64
    /// Hertz.
    public let sampleRate: Int32
    /// Channels in a frame of sound.
    public let channelCount: Int
    /// Frame after frame, each with one value for each channel in libavcodec's order; full scale is -1 to 1.
    public let samples: [Float]

    /// Frames of sound.
    public var frameCount: Int { samples.count / channelCount }

    /// How long it lasts.
    public var duration: MediaTime { MediaTime(value: Int64(frameCount), timescale: sampleRate) }

    package init(position: Int64, sampleRate: Int32, channelCount: Int, samples: [Float]) {
        presentationTime = MediaTime(value: position, timescale: sampleRate)
        self.position = position
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samples = samples
    }

    /// The part of it that lies in `range`, counted as `position`; nil where that is empty.
    func part(_ range: Range<Int64>) -> SoundBuffer? {
        let first = max(range.lowerBound, position), end = min(range.upperBound, position + Int64(frameCount))
        guard first < end else { return nil }
        if first == position, end - first == Int64(frameCount) { return self }
        let start = Int(first - position) * channelCount, count = Int(end - first) * channelCount
        return SoundBuffer(
            position: first, sampleRate: sampleRate, channelCount: channelCount, samples: Array(samples[start..<start + count]))
    }
}
