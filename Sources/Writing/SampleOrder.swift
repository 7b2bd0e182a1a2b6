internal import Demuxing
internal import Media
internal import SampleQueue

/// Makes a film's samples fit for a container, as FFmpeg's command line program does when it copies: video begins with a sync sample, and decode
/// times never go back, however damaged the film is.
///
/// A pure value.
struct SampleOrder: Sendable {
    /// Tracks of video whose first sync sample has not come.
    private var closed: Set<Int>
    private var last: [Int: MediaTime] = [:]

    init(_ tracks: [AssetTrack]) { closed = Set(tracks.filter { $0.kind == .video }.map(\.id)) }

    /// The sample as it is to be written; nil where it cannot be decoded.
    mutating func next(_ sample: SampleBuffer) -> SampleBuffer? {
        if closed.contains(sample.trackID) {
            guard sample.flags.contains(.sync) else { return nil }
            closed.remove(sample.trackID)
        }
        var sample = sample
        if sample.decodeTime.isNumeric, sample.presentationTime.isNumeric, sample.decodeTime > sample.presentationTime {
            // One of the two is wrong: the middle of them and of the time before.
            let before = last[sample.trackID] ?? sample.presentationTime
            let middle = [sample.decodeTime, sample.presentationTime, before].sorted()[1]
            (sample.decodeTime, sample.presentationTime) = (middle, middle)
        }
        let decode = sample.decodeTime.isNumeric ? sample.decodeTime : sample.presentationTime
        guard decode.isNumeric else { return sample }
        if let before = last[sample.trackID], decode < before {
            sample.decodeTime = before
            if sample.presentationTime.isNumeric { sample.presentationTime = max(sample.presentationTime, before) }
        } else {
            last[sample.trackID] = decode
        }
        return sample
    }
}
