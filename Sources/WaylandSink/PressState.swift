/// Recognizes double clicks and drags of one button or finger.
///
/// A pure value. Times are the compositor's milliseconds, which wrap around.
package struct PressState: Sendable {
    /// 400 ms: two presses within this time are a double press.
    private static let doubleTime: UInt32 = 400
    /// Movements up to this distance are not a drag, because a finger never keeps still. In the window's units.
    private let slack: Double

    /// A press that became a drag.
    package struct Drag: Sendable, Hashable {
        /// The serial of the press, which `move` and `resize` requests need.
        package var serial: UInt32
        /// Position of the press in the window.
        package var x, y: Double
    }

    private var last: (time: UInt32, serial: UInt32)?
    private var begun: Drag?

    /// - Parameter slack: How far a press may move without being a drag.
    package init(slack: Double = 0) { self.slack = slack }

    /// A press. True when it completes a double press.
    package mutating func press(_ time: UInt32, serial: UInt32, x: Double, y: Double) -> Bool {
        begun = Drag(serial: serial, x: x, y: y)
        if let last, time &- last.time <= Self.doubleTime {
            self.last = nil
            return true
        }
        last = (time, serial)
        return false
    }

    /// A movement. Returns the drag that begins with it, if any; each press begins at most one.
    package mutating func move(x: Double, y: Double) -> Drag? {
        guard let drag = begun, abs(x - drag.x) + abs(y - drag.y) > slack else { return nil }
        begun = nil
        last = nil
        return drag
    }

    package mutating func release() { begun = nil }
}
