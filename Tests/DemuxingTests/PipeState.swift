import Glibc
import TestSupport

/// What is in a pipe that a reader reads.
enum PipeState {
    /// Waits until nothing is left in it; false when that does not come.
    static func isDrained(_ input: Int32) -> Bool {
        Polling.until {
            var count: Int32 = 1
            return unsafe ioctl(input, UInt(FIONREAD), &count) == 0 && count == 0
        }
    }
}
