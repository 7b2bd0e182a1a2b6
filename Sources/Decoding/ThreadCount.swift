internal import Media

/// How many threads to decode with when nobody said: as many as the machine has use for and the pictures leave memory for.
enum ThreadCount {
    /// More than 16 frames in parallel cost memory and delay and gain nothing (libavcodec draws the same line).
    static let maximum = 16

    /// - Parameters:
    ///   - processors: Processors that the process may run on.
    ///   - picture: Coded size; zero when unknown.
    ///   - maximumByteCount: What all pictures together may take.
    static func automatic(processors: Int, picture: PixelSize, maximumByteCount: Int) -> Int {
        let useful = processors > 1 ? min(processors + 1, maximum) : 1
        // Every thread has a picture of its own in the making, at up to 3 bytes a pixel; the other half is for references and consumers.
        let pixels = Double(picture.width) * Double(picture.height)
        guard pixels >= 1 else { return useful }
        let affordable = Double(maximumByteCount) / 2 / (3 * pixels)
        return affordable >= Double(useful) ? useful : max(1, Int(affordable))
    }
}
