package import Media

/// What the demuxing thread does next: a pure decision over what the queues ask for and what the player has commanded.
package struct FeederState: Sendable {
    package enum Step: Sendable, Equatable {
        /// Take one sample from the source and route it.
        case read
        /// Go to this time first.
        case seek(MediaTime, serial: UInt64 = 0)
        /// Nobody needs a sample: sleep until woken.
        case sleep
        case stop
    }

    package private(set) var isAtEnd = false
    package private(set) var isStopping = false
    /// Tracks whose end the source has marked by itself.
    package private(set) var endedTracks: Set<Int> = []
    private var seekTarget: (time: MediaTime, serial: UInt64)?
    /// Set by everything that may change the answer to `next`.
    private var isWoken = false

    package init() {}

    /// - Parameters:
    ///   - hungry: a queue is below its watermarks.
    ///   - bytes: compressed bytes waiting in all queues.
    ///   - limit: above it, even a hungry queue waits: the file is badly interleaved, and memory is finite.
    package mutating func next(hungry: Bool, bytes: Int, limit: Int) -> Step {
        isWoken = false
        if isStopping { return .stop }
        if let target = seekTarget {
            seekTarget = nil
            isAtEnd = false
            endedTracks = []
            return .seek(target.time, serial: target.serial)
        }
        if isAtEnd || !hungry || bytes >= limit { return .sleep }
        return .read
    }

    /// A sample must not be delivered when a newer command makes it stale.
    package var isSuperseded: Bool { isStopping || seekTarget != nil }

    package mutating func reachedEnd() { isAtEnd = true }

    /// A sample of this track has come, or the source's own mark of its end; samples may follow that.
    package mutating func note(_ track: Int, isEnd: Bool) {
        if isEnd { endedTracks.insert(track) } else if !endedTracks.isEmpty { endedTracks.remove(track) }
    }

    /// The newest target wins: ten quick presses of → are one seek.
    ///
    /// - Parameter serial: The newest seek of the player's callers.
    package mutating func requestSeek(_ time: MediaTime, serial: UInt64 = 0) {
        seekTarget = (time, serial)
        isWoken = true
    }

    package mutating func stop() {
        isStopping = true
        isWoken = true
    }

    package mutating func wake() { isWoken = true }

    /// True once after a wake.
    package mutating func takeWake() -> Bool {
        defer { isWoken = false }
        return isWoken
    }
}
