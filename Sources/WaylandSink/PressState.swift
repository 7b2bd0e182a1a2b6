/// Tells double clicks and drags of one button or finger from plain presses.
///
/// A pure value; times are the compositor's, in milliseconds that wrap around.
package struct PressState: Sendable {
    /// Two presses within this time are one double press.
    private static let doubleTime: UInt32 = 400
    /// A finger is never still: less than this is no drag, in the window's units.
    private let slack: Double

    /// A press that became a drag.
    package struct Drag: Sendable, Hashable {
        /// Of the press, which the compositor asks for.
        package var serial: UInt32
        /// Where in the window it was.
        package var x, y: Double
    }

    private var last: (time: UInt32, serial: UInt32)?
    private var begun: Drag?

    /// - Parameter slack: How far a press may move and be none the less one.
    package init(slack: Double = 0) { self.slack = slack }

    /// True when this is the second press of two.
    package mutating func press(_ time: UInt32, serial: UInt32, x: Double, y: Double) -> Bool {
        begun = Drag(serial: serial, x: x, y: y)
        if let last, time &- last.time <= Self.doubleTime {
            self.last = nil
            return true
        }
        last = (time, serial)
        return false
    }

    /// The drag that begins with this movement, if one does; each press begins one at most.
    package mutating func move(x: Double, y: Double) -> Drag? {
        guard let drag = begun, abs(x - drag.x) + abs(y - drag.y) > slack else { return nil }
        begun = nil
        last = nil
        return drag
    }

    package mutating func release() { begun = nil }
}
