public import Media
public import SampleQueue

/// What hands out a film's samples: `AssetReader` in this process; one in a process without rights keeps the same contract.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public protocol AssetReading: AnyObject, Sendable {
    var location: String { get }
    var tracks: [AssetTrack] { get }
    /// Length of the film; indefinite for a live stream.
    var duration: MediaTime { get }
    /// libavformat's name of the container.
    var containerName: String { get }
    var title: String? { get }
    /// Whether `seek` can be expected to work.
    var isSeekable: Bool { get }
    /// As `AssetReader.timeRange`.
    var timeRange: MediaTimeRange { get set }
    func select(_ trackIDs: Set<Int>)
    func nextSample() throws(AssetError) -> SampleBuffer?
    func seek(to time: MediaTime) throws(AssetError)
    func cancel()
}

extension AssetReader: AssetReading {}
