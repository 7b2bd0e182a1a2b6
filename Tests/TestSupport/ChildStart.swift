internal import Foundation

/// One start of a program at a time, from the making of its pipes on.
///
/// Foundation closes in a child what is open when it begins to start it. A pipe that another thread makes after that moment is inherited: who reads
/// it to its end then waits until that other program ends.
public enum ChildStart {
    private static let lock = NSLock()

    /// Makes pipes and starts the program that has them, while no other such program starts.
    public static func alone<R>(_ body: () throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
