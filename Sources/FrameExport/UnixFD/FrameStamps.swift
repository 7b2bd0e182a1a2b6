internal import Media

/// The times that a server writes on its frames: what a client's clock shows them by (GStreamer's `pts`, CLOCK_MONOTONIC). They never go back.
///
/// A film with a clock gives its frames host times. One that stands still is shown now. One without a clock, which is decoded as fast as its
/// clients take it, has the film's own distances: a client that records, or that plays at the film's pace, needs them.
struct FrameStamps: Sendable {
    private struct Stamp: Sendable {
        var host: HostTime
        var begin: MediaTime
        var end: MediaTime
    }

    private var last: Stamp?

    /// The time of the next frame.
    ///
    /// - Parameter isPaced: The film has a clock.
    mutating func next(_ frame: FrameDescription, isPaced: Bool, now: HostTime) -> HostTime {
        let begin = frame.presentationTime
        var time = frame.hostTime ?? now
        if let last {
            if !isPaced, begin.isNumeric, last.begin.isNumeric {
                // A film that begins again goes on where its last frame ends.
                let span = (begin >= last.begin ? begin : last.end) - last.begin
                time = last.host + HostSpan(nanoseconds: span.nanoseconds() ?? 0)
            }
            time = max(time, last.host)
        }
        last = Stamp(host: time, begin: begin, end: begin.isNumeric && frame.duration.isNumeric ? begin + frame.duration : begin)
        return time
    }
}
