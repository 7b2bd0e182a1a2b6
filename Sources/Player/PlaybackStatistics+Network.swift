internal import Demuxing
internal import Media

extension PlaybackStatistics.Network {
    /// What has come of a film; nil where it is not on a web server.
    /// - Parameter length: of all of the film.
    init?(_ progress: FetchProgress, length: MediaTime) {
        let ahead = progress.ahead
        guard progress.bytesFetched > 0 else { return nil }
        self.init(bytesFetched: progress.bytesFetched, bytesAhead: ahead.bytes)
        (variant, variantSwitches) = (progress.variant, progress.variantSwitches)
        (percentAhead, bytesPerSecond) = (ahead.percent, progress.bytesPerSecond)
        // A film of one file has as much to a byte everywhere, as far as anybody knows.
        secondsAhead = ahead.seconds
        if secondsAhead == nil, length.isNumeric, let count = progress.byteCount, count > 0 {
            secondsAhead = length.seconds * Double(ahead.bytes) / Double(count)
        }
    }
}
