internal import AudioSink
internal import Demuxing
internal import Media
internal import SampleQueue

/// The first samples of a film: as many as tell when its frames and its sound begin.
struct FilmBeginning: Sendable {
    private(set) var samples: [SampleBuffer] = []
    /// What was read, in the film's own time.
    private(set) var extent = FilmExtent()
    /// Why no more was read.
    private(set) var failure: AssetError?

    /// Samples that are looked at, and their bytes.
    private static let longestLook = 512, largestLook = 16 << 20
    /// 16: no codec puts a frame behind more frames than that.
    private static let mostReordered = 16

    /// Blocks.
    init(readingFrom film: OpenedSource) {
        var bytes = 0, frames = 0, hasFirst = film.videoTrack == nil
        while samples.count < Self.longestLook, bytes < Self.largestLook, !hasFirst || (film.audio != nil && !extent.sound.isKnown) {
            do throws(AssetError) {
                guard let sample = try film.samples.nextSample() else { break }
                extent.add(sample, of: film)
                if sample.trackID == film.videoTrack, extent.frames.isKnown {
                    frames += 1
                    // Frames that are decoded later may be shown earlier, but none before it is decoded.
                    hasFirst = sample.decodeTime.isNumeric ? sample.decodeTime >= extent.frames.begin : frames > Self.mostReordered
                }
                samples.append(sample)
                bytes += sample.byteCount
            } catch {
                failure = error
                break
            }
        }
    }
}

extension FilmExtent {
    /// Takes account of a sample of `film`.
    mutating func add(_ sample: SampleBuffer, of film: OpenedSource) {
        if sample.trackID == film.videoTrack {
            let shown = sample.trimmed
            guard !shown.flags.contains(.doNotDisplay) else { return }
            frames.add(shown.presentationTime, shown.duration.isNumeric && shown.duration > .zero ? shown.duration : film.frameDuration)
        } else if sample.trackID == film.audio?.track, !sample.flags.contains(.doNotDisplay) {
            let padding = sample.soundPadding
            sound.add(sample.presentationTime + padding.start, sample.duration - padding.start - padding.end)
        }
    }
}
