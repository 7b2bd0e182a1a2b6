public import Media
public import SurfacePool

/// Frames that a camera made and nobody gets, one after the other and for the same reason.
public struct CaptureDrop: Sendable, Hashable {
    /// Why frames are not delivered. Each one that is not has exactly one reason.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A newer frame came while this one waited for the program.
        case late
        /// The program holds as many frames as were made for it, so that the driver had nowhere to write.
        case outOfBuffers = "out-of-buffers"
        /// The driver's count of frames goes on without it, although it had room: the cable, the bus or the driver lost it.
        case discontinuity
        /// The driver says that the frame is damaged.
        case damaged
        /// The connection to the output is switched off (`VideoDataOutput.isEnabled`).
        case switchedOff = "switched-off"
    }

    /// Why.
    public var reason: Reason
    /// How many frames. 0: the driver began to count anew, and how many are missing nobody knows.
    public var count: Int
    /// The first one's number among all frames since the start, from 0.
    public var first: UInt64
    /// When the last of them was captured, on CLOCK_MONOTONIC; for frames that never came: when the one after them was.
    public var time: HostTime

    /// Makes a report.
    public init(_ reason: Reason, count: Int = 1, first: UInt64, time: HostTime) {
        self.reason = reason
        self.count = count
        self.first = first
        self.time = time
    }
}

/// What an output gives to a program, in the camera's order.
public enum CaptureDelivery: Sendable {
    /// A frame. Its time is a reading of CLOCK_MONOTONIC in nanoseconds; it counts as held until the object goes.
    case frame(SharedFrame)
    /// Frames that are not delivered.
    case dropped(CaptureDrop)
    /// Nothing follows: the session was stopped (nil), or has failed.
    case ended(CaptureError?)
}

/// What has become of a camera's frames since the start: `delivered`, all in `dropped` and `waiting` together are those that the driver counted, and
/// those that it `repeated`.
public struct CaptureStatistics: Sendable, Hashable {
    /// Frames that the program got.
    public var delivered = 0
    /// Frames that it did not get.
    public var dropped: [CaptureDrop.Reason: Int] = [:]
    /// Frames that wait for the program.
    public var waiting = 0
    /// How often the driver began to count anew.
    public var restarts = 0
    /// Frames that had the driver's number of the frame before them: the driver made more frames than it counted. They are in the others too.
    public var repeated = 0

    /// Makes counters that stand at 0.
    public init() {}

    /// Frames that the driver made or missed.
    public var counted: Int { delivered + waiting + dropped.values.reduce(0, +) }
}
