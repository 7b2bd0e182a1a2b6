internal import Media

/// Whether the window covers the screen: what the caller wants, what was requested of the compositor, and what the compositor says.
///
/// A configure event does not name the request that it answers (xdg-shell, `xdg_toplevel.configure`). After several quick requests the answer to the
/// first may look like the answer to the last, so a request counts as open until the compositor agrees and nothing has changed for some time.
///
/// Thread-safety: a value. It reads no clock; times are of CLOCK_MONOTONIC.
struct FullscreenState: Sendable {
    /// 5 s without a request and without a change: every earlier request has been answered, by a busy compositor too.
    static let settling = HostSpan.seconds(5)

    /// Requested by the caller, not yet sent.
    private var wanted: Bool?
    /// Sent to the compositor; nil when that is settled.
    private var request: Bool?
    /// When a request was sent last, or the compositor said something new.
    private var lastChange = HostTime.distantPast
    /// What the compositor said last.
    private(set) var isFullscreen = false

    /// A new window begins: one that covered the screen is to cover it again.
    mutating func beginWindow() {
        if isFullscreen { wanted = wanted ?? true }
        isFullscreen = false
        request = nil
    }

    /// Requests this state.
    mutating func set(_ isFullscreen: Bool) { wanted = isFullscreen }

    /// Requests the opposite of the last request, or of the present state where no request is open.
    mutating func toggle() { wanted = !(wanted ?? request ?? isFullscreen) }

    /// Takes the request to send to a window that is in this state now; nil: none.
    mutating func take(_ isFullscreen: Bool, now: HostTime) -> Bool? {
        if self.isFullscreen != isFullscreen { lastChange = now }
        self.isFullscreen = isFullscreen
        if request == isFullscreen, now - lastChange >= Self.settling { request = nil }
        guard let wanted = wanted.take() else { return nil }
        request = wanted
        lastChange = now
        return wanted
    }
}
