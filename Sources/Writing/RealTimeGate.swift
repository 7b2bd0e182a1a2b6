public import Media

/// What a source that cannot wait has lost because the file was written too slowly (`AssetWriterInput.expectsMediaDataInRealTime`).
public struct DroppedSamples: Sendable, Hashable {
    /// Why a sample was left out.
    public enum Reason: Sendable, Hashable {
        /// What waits to be written has reached `InterleavingLimits.byteCount`: the disk is slower than the source.
        case writerIsLate
        /// A sample before it was left out, and without that it cannot be decoded.
        case dependsOnDropped
    }

    /// Samples.
    public fileprivate(set) var count = 0
    /// Their bytes.
    public fileprivate(set) var byteCount = 0
    /// Of the last one; nil while none was dropped.
    public fileprivate(set) var lastReason: Reason?
    /// The presentation time of the last one; `.invalid` while none was dropped.
    public fileprivate(set) var lastTime = MediaTime.invalid

    init() {}
}

/// Decides which samples of a source that cannot wait are left out. A pure value.
package struct RealTimeGate: Sendable {
    package private(set) var dropped = DroppedSamples()
    private let isVideo: Bool
    private var waitsForSync = false

    /// - Parameter isVideo: Its samples need those before them, back to the last sync sample.
    package init(isVideo: Bool) { self.isVideo = isVideo }

    /// Whether a sample is taken; otherwise it is counted.
    ///
    /// - Parameters:
    ///   - waiting: Bytes of all samples that wait to be written.
    ///   - limit: The most that may wait.
    package mutating func takes(byteCount: Int, isSync: Bool, time: MediaTime, waiting: Int, limit: Int) -> Bool {
        let isLate = waiting > 0 && waiting + byteCount > limit
        guard isLate || waitsForSync && !isSync else {
            waitsForSync = false
            return true
        }
        dropped.count += 1
        dropped.byteCount += byteCount
        dropped.lastReason = isLate ? .writerIsLate : .dependsOnDropped
        dropped.lastTime = time
        waitsForSync = isVideo
        return false
    }
}
