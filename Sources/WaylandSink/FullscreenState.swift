internal import Media

/// Whether the window covers the screen: what the caller wants, what was requested of the compositor, and what the compositor says.
///
/// A configure event does not name the request that it answers (xdg-shell, `xdg_toplevel.configure`). After several quick requests the answer to the
/// first may look like the answer to the last, so a request counts as open until the compositor agrees and some time has passed.
///
/// Thread-safety: a value. It reads no clock; times are of CLOCK_MONOTONIC.
struct FullscreenState: Sendable {
    /// 2 s: longer than a compositor takes to answer what was requested in between.
    static let settling = HostSpan.seconds(2)

    /// Requested by the caller, not yet sent.
    private var wanted: Bool?
    /// Sent to the compositor, and when; nil when that is settled.
    private var request: (value: Bool, time: HostTime)?
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
    mutating func toggle() { wanted = !(wanted ?? request?.value ?? isFullscreen) }

    /// Takes the request to send to a window that is in this state now; nil: none.
    mutating func take(_ isFullscreen: Bool, now: HostTime) -> Bool? {
        self.isFullscreen = isFullscreen
        if let request, request.value == isFullscreen, now - request.time >= Self.settling { self.request = nil }
        guard let wanted = wanted.take() else { return nil }
        request = (wanted, now)
        return wanted
    }
}
