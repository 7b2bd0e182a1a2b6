internal import Demuxing
internal import Media
internal import SampleQueue

/// Where compressed samples come from: a container opened by libavformat, or bytes of an elementary stream.
///
/// Thread-safety: one thread (the feeder's) calls everything but `cancel`, which any thread may call.
protocol SampleSource: AnyObject, Sendable {
    /// The next sample in file order; nil at the end.
    func nextSample() throws(AssetError) -> SampleBuffer?
    /// Continues from the sync sample at or before `time`; samples before `time` come marked as not to be shown.
    func seek(to time: MediaTime) throws(AssetError)
    /// Makes a blocked `nextSample` or `seek` throw soon.
    func cancel()
    /// The film stands still (true), or goes on. Of a live source: what it makes while the film stands still is left out. Any thread.
    func setHeld(_ isHeld: Bool)
}

extension SampleSource {
    /// Nothing: the source waits until more is asked for.
    func setHeld(_ isHeld: Bool) {}
}

/// A container as a sample source.
final class AssetSource: SampleSource, @unchecked Sendable {
    private let reader: any AssetReading

    init(reader: any AssetReading) { self.reader = reader }

    func nextSample() throws(AssetError) -> SampleBuffer? { try reader.nextSample() }
    func seek(to time: MediaTime) throws(AssetError) { try reader.seek(to: time) }
    func cancel() { reader.cancel() }
}
