package import Media

/// Is told what becomes of the memory that monitors show, while it happens, and may play a device that refuses; for tests.
///
/// Called on the sink's thread.
package protocol PictureWitness: AnyObject, Sendable {
    /// The device has agreed to show this memory, which it may read from now on.
    ///
    /// - Parameter use: Names this use of it: the same memory may be shown again.
    func committed(use: UInt64, _ memory: [UInt8])
    /// The device does not read it any more: another picture has replaced it.
    func ended(use: UInt64, _ memory: [UInt8])
    /// The frame was seen from then on (CLOCK_MONOTONIC), the monitor's refresh of that number.
    func lit(sequence: UInt64, at time: HostTime, refresh: UInt64)
    /// An errno with which a commit for so many monitors is to fail as if the device had refused it; 0: the device is asked.
    func refusal(ofCommitFor monitors: Int) -> Int32
}

extension PictureWitness {
    package func committed(use: UInt64, _ memory: [UInt8]) {}
    package func ended(use: UInt64, _ memory: [UInt8]) {}
    package func lit(sequence: UInt64, at time: HostTime, refresh: UInt64) {}
    package func refusal(ofCommitFor monitors: Int) -> Int32 { 0 }
}
