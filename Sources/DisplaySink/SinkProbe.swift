package import Media
package import SurfacePool

/// Observes what a sink shows, reads its monitors back, and can simulate a device that refuses commits; for tests.
///
/// Called on the sink's thread, without a lock.
package protocol SinkProbe: AnyObject, Sendable {
    /// A virtual display did something.
    func record(_ event: VirtualDisplayEvent)
    /// The device accepted a commit that shows this memory, and may read it from now on.
    ///
    /// - Parameter use: Identifies this use, because the same memory may be shown again.
    func committed(use: UInt64, _ memory: [UInt8])
    /// The device does not read the memory any more, because another frame has replaced it.
    func ended(use: UInt64, _ memory: [UInt8])
    /// The frame was shown at `time` (CLOCK_MONOTONIC), at the refresh with this number.
    func lit(sequence: UInt64, at time: HostTime, refresh: UInt64)
    /// An errno with which a commit for this many monitors, on which so many planes lie over the film, fails, as if the device had refused it; 0:
    /// the device decides.
    func refusal(ofCommitFor monitors: Int, overlays: Int) -> Int32
    /// The sink has started. `wake`, which any thread may call, makes it take a step.
    func started(wake: @escaping @Sendable () -> Void)
    /// The index of a monitor to read back now; nil: none. Asked in each step in which no flip is pending, and answered by `didRead`.
    func takeWantedReading() -> Int?
    /// What that monitor was sent, or why it cannot be read.
    func didRead(_ reading: Result<ScreenReading, SystemError>)
}

extension SinkProbe {
    package func started(wake: @escaping @Sendable () -> Void) {}
    package func takeWantedReading() -> Int? { nil }
    package func didRead(_ reading: Result<ScreenReading, SystemError>) {}
    package func record(_ event: VirtualDisplayEvent) {}
    package func committed(use: UInt64, _ memory: [UInt8]) {}
    package func ended(use: UInt64, _ memory: [UInt8]) {}
    package func lit(sequence: UInt64, at time: HostTime, refresh: UInt64) {}
    package func refusal(ofCommitFor monitors: Int, overlays: Int) -> Int32 { 0 }
}

/// What a monitor was sent, as the display hardware composed it: blue, green, red and an unused byte per pixel.
package struct ScreenReading: Sendable {
    package var size: PixelSize
    /// Bytes per row.
    package var pitch: Int
    package var bytes: [UInt8]

    package init(size: PixelSize, pitch: Int, bytes: [UInt8]) {
        self.size = size
        self.pitch = pitch
        self.bytes = bytes
    }
}

/// What a virtual display did, for a probe. Times are CLOCK_MONOTONIC's.
package enum VirtualDisplayEvent: Sendable {
    /// The display was switched on, with this time between refreshes.
    case started(HostTime, period: HostSpan)
    /// A frame was shown at `time`. Its presentation time is due at `ideal`; nil: the film was paused.
    case shown(presentationTime: MediaTime, sequence: UInt64, time: HostTime, ideal: HostTime?)
    case dropped(DropReason, count: Int, time: HostTime)
    case removed(HostTime)
    case finished(HostTime)
}
