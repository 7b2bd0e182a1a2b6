package import Media

/// Finds the two fields of each frame where a driver gives them one by one (`V4L2_FIELD_ALTERNATE`).
///
/// A driver counts frames there: the two fields of a frame have the same number (`v4l2_buffer.sequence`), and that of the upper rows and that of the
/// lower rows follow each other in either order. A frame of which one field is missing or damaged is lost as a whole.
package struct FieldPairState: Sendable {
    /// A frame.
    package struct Frame: Sendable, Hashable {
        /// Its number, told when its first field came.
        package var receipt: SequenceState.Receipt
        /// When its first field was captured.
        package var time: HostTime
        /// Whether that was the field of the upper rows.
        package var isTopFirst: Bool
        /// Why it cannot be delivered; nil as long as it can.
        package var loss: CaptureDrop.Reason?
    }

    /// What a field is.
    package enum Step: Sendable, Hashable {
        /// The first one of a frame. The frame before, if any is given here, will have no second one.
        case begins(abandoned: Frame?)
        /// The second one of this frame.
        case completes(Frame)
    }

    private var waiting: (frame: Frame, sequence: UInt32)?

    package init() {}

    /// A field came from the driver.
    /// - Parameter count: Counts a frame of this number; called for the first field of each.
    package mutating func take(
        _ sequence: UInt32, isTop: Bool, at time: HostTime, count: (UInt32) -> SequenceState.Receipt
    ) -> Step {
        if let (frame, its) = waiting, its == sequence, frame.isTopFirst != isTop {
            waiting = nil
            return .completes(frame)
        }
        let abandoned = finish()
        waiting = (Frame(receipt: count(sequence), time: time, isTopFirst: isTop), sequence)
        return .begins(abandoned: abandoned)
    }

    /// The frame whose first field has come cannot be delivered.
    package mutating func spoil(_ reason: CaptureDrop.Reason) { if waiting?.frame.loss == nil { waiting?.frame.loss = reason } }

    /// Nothing follows: the frame that waits for its second field, if one does.
    package mutating func finish() -> Frame? {
        guard var frame = waiting?.frame else { return nil }
        waiting = nil
        frame.loss = frame.loss ?? .damaged
        return frame
    }
}
