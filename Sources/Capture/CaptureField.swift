internal import CV4L2
package import SurfacePool

/// How the two fields of an interlaced frame lie in it, and which one was captured first.
package enum CaptureField: Sendable, Hashable {
    /// One field: all rows are of one moment.
    case progressive
    /// The rows of both fields alternate. The field of the upper row was captured first, or the other one.
    case interlaced(topFirst: Bool)
    /// The fields come one by one, and are put together. Each frame says which one was captured first.
    case alternating
    /// The fields come one below the other.
    case separate

    /// - Parameters:
    ///   - field: The driver's `enum v4l2_field`. A value that is not known counts as progressive.
    ///   - has525Lines: Whether the analog standard has 525 lines. Where a driver leaves the order to the standard, the lower row is the first in
    ///     these, and the upper row in all others.
    package init(_ field: UInt32, has525Lines: Bool) {
        switch Int(field) {
        case CV4L2_FIELD_INTERLACED: self = .interlaced(topFirst: !has525Lines)
        case CV4L2_FIELD_INTERLACED_TB: self = .interlaced(topFirst: true)
        case CV4L2_FIELD_INTERLACED_BT: self = .interlaced(topFirst: false)
        case CV4L2_FIELD_ALTERNATE: self = .alternating
        case CV4L2_FIELD_SEQ_TB, CV4L2_FIELD_SEQ_BT: self = .separate
        default: self = .progressive
        }
    }

    /// What displays, deinterlacers and encoders are told with each frame.
    package var flags: VideoFrame.Flags {
        switch self {
        case .progressive, .alternating, .separate: []
        case .interlaced(let topFirst): topFirst ? [.interlaced, .topFieldFirst] : .interlaced
        }
    }
}
