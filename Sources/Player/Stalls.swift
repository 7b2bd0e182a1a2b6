internal import Media

/// Counts how often and how long a film waited for its source.
struct Stalls: Sendable {
    private(set) var count = 0
    private var total = HostSpan.zero
    /// When the present one began.
    private var began: HostTime?

    mutating func note(_ isStalled: Bool, at now: HostTime) {
        if isStalled, began == nil {
            count += 1
            began = now
        } else if !isStalled, let began {
            total = total + (now - began)
            self.began = nil
        }
    }

    func time(at now: HostTime) -> HostSpan { began.map { total + (now - $0) } ?? total }
}
