internal import Demuxing
internal import SampleQueue

extension SteadySamples {
    /// The next compressed sample of `track`; nil at the end. Its times are those that a player would wait for.
    ///
    /// The reader marks what lies before the place that it was sent to as not to be shown. Those marks are taken off: which frames lie before shows
    /// when they are decoded. The container's own marks stay.
    mutating func next(of track: AssetTrack) throws(ReadingError) -> SampleBuffer? {
        do throws(AssetError) {
            while var sample = try next() {
                guard sample.trackID == track.id, case .compressed(let block, _) = sample.content else { continue }
                if !block.isHiddenByContainer { sample.flags.remove(.doNotDisplay) }
                return sample
            }
            return nil
        } catch {
            throw ReadingError(error)
        }
    }
}
