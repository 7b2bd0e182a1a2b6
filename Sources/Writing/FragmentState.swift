internal import Media

/// Decides where a fragment ends: at a sync sample of video after half the wanted duration, else after all of it. A pure value.
struct FragmentState: Sendable {
    let duration: MediaTime
    private var start: MediaTime?

    init(duration: MediaTime) { self.duration = duration }

    /// A sample has come.
    var hasBegun: Bool { start != nil }

    /// Whether the fragment ends before this sample.
    mutating func endsBefore(time: MediaTime, isSyncVideo: Bool) -> Bool {
        guard let start else {
            self.start = time
            return false
        }
        let length = time - start
        guard length >= duration || isSyncVideo && length.multiplied(by: 2) >= duration else { return false }
        self.start = time
        return true
    }
}
