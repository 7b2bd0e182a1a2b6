internal import Media

/// When the two fields of a frame are shown.
struct FieldTimes: Hashable, Sendable {
    var first: MediaTime
    var second: MediaTime
    var firstDuration: MediaTime
    var secondDuration: MediaTime

    /// The second field comes in the middle between its frame and the next one; in the middle of its frame's duration when there is no next one,
    /// or when it does not follow within twice that duration.
    ///
    /// - Parameters:
    ///   - duration: `.invalid` when unknown.
    ///   - next: The time of the next frame; nil: none.
    init(of time: MediaTime, duration: MediaTime, next: MediaTime?) {
        var span = MediaTime.invalid
        if duration.isNumeric, duration > .zero { span = duration }
        if let next, next.isNumeric, next > time, !span.isNumeric || next - time <= span.multiplied(by: 2) { span = next - time }
        first = time
        let half = span.isNumeric ? span.multiplied(by: 1, over: 2) : .invalid
        second = span.isNumeric ? time + half : time
        firstDuration = half
        secondDuration = span.isNumeric ? span - half : .invalid
    }
}
