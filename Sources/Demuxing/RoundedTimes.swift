internal import Media

/// Times of a container that counts in coarse units: Matroska and WebM in milliseconds.
///
/// At 30 frames a second such a container has frames at 433 and 467 ms, each 33 ms long: one is on the screen until the next begins, although it
/// seems to end at 466 ms.
enum RoundedTimes {
    /// Whether the next frame begins one unit after the end that is stated, because both were rounded. Only for frames that lie on the grid of the
    /// film's frame rate.
    ///
    /// - Parameters:
    ///   - begin: When the frame begins, in units.
    ///   - duration: How long it is said to last, in units.
    ///   - unit: In seconds.
    ///   - rate: Frames a second.
    static func lastsOneMore(begin: Int64, duration: Int64, unit: Double, rate: Double) -> Bool {
        guard unit > 0, rate > 0, duration > 0 else { return false }
        let start = Double(begin) * unit, number = (start * rate).rounded()
        // A little more than half a unit: the rounding of the number itself.
        guard abs(number / rate - start) <= unit * 0.501 else { return false }
        let next = ((number + 1) / rate / unit).rounded()
        return next - Double(begin) == Double(duration + 1)
    }
}
