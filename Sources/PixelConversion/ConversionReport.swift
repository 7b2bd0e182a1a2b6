/// A conversion that a decoder or a display had to insert, why, and what it costs.
public struct ConversionReport: Sendable, Hashable {
    /// The pixel format before, by name; from a decoder with the size: `yuv420p 640x360`.
    public var from: String
    /// The pixel format after, in the same form.
    public var to: String
    /// The reason, half a sentence.
    public var why: String
    /// Frames converted so far; 0 where they are not counted.
    public var frames: Int
    /// Bytes written for one frame.
    public var bytesPerFrame: Int
    /// Seconds of computing for one frame, on average.
    public var secondsPerFrame: Double

    /// Makes a report; the count and the costs are 0 where nobody measures them.
    public init(from: String, to: String, why: String, frames: Int = 0, bytesPerFrame: Int = 0, secondsPerFrame: Double = 0) {
        self.from = from
        self.to = to
        self.why = why
        self.frames = frames
        self.bytesPerFrame = bytesPerFrame
        self.secondsPerFrame = secondsPerFrame
    }

    /// `Converts yuv420p 640x360 to bgra 640x360, because …: 921600 bytes and 1.3 ms a frame.`
    public var sentence: String {
        let milliseconds = (secondsPerFrame * 10_000).rounded() / 10
        return "Converts \(from) to \(to), because \(why): \(bytesPerFrame) bytes and \(milliseconds) ms a frame."
    }
}
