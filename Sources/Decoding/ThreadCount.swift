internal import Media

/// How many threads to decode with by default: as many as the machine can use and as the memory for their frames allows.
enum ThreadCount {
    /// More than 16 frames in parallel cost memory and delay and gain nothing (libavcodec draws the same line).
    static let maximum = 16

    /// - Parameters:
    ///   - processors: Processors that the process may run on.
    ///   - frame: Coded size; zero when unknown.
    ///   - maximumByteCount: What all frames together may take.
    static func automatic(processors: Int, frame: PixelSize, maximumByteCount: Int) -> Int {
        let useful = processors > 1 ? min(processors + 1, maximum) : 1
        // Every thread decodes a frame of its own, at up to 3 bytes a pixel; the other half is for references and consumers.
        let pixels = Double(frame.width) * Double(frame.height)
        guard pixels >= 1 else { return useful }
        let affordable = Double(maximumByteCount) / 2 / (3 * pixels)
        return affordable >= Double(useful) ? useful : max(1, Int(affordable))
    }
}
