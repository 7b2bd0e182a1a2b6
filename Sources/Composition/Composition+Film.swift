public import Demuxing
internal import Media

/// A composition as programs see films: with chapters and tracks.
extension Composition {
    /// The markers, each up to the next, and the last one up to the end. Those outside of the composition are left out.
    public var chapters: [AssetChapter] {
        let inside = markers.filter { $0.time >= .zero && $0.time < duration }
        return AssetChapter.list(inside.map { (start: $0.time, end: nil, title: $0.name) }, duration: duration)
    }

    /// One track of the frames that are drawn and one of the sound that is mixed, numbered from 0; those that there are.
    package func resultTracks(_ video: VideoComposition) -> [AssetTrack] {
        var formats: [(AssetTrack.Kind, MediaFormat, Ratio)] = []
        if !tracks(.video).isEmpty {
            let step = video.frameDuration
            let rate = step.isNumeric && step.value > 0 ? Ratio(step.timescale, Int32(clamping: step.value)) : .unknown
            let format = VideoFormat(codec: VideoCodec(name: "rawvideo"), codedSize: video.size, frameRate: rate)
            // The finest unit of containers that count in one.
            formats.append((.video, .video(format), step.isNumeric ? Ratio(1, step.timescale) : .unknown))
        }
        if !tracks(.sound).isEmpty {
            let format = AudioFormat(codecName: "pcm_f32le", sampleRate: 48_000, channelCount: 2)
            formats.append((.audio, .audio(format), Ratio(1, format.sampleRate)))
        }
        return formats.enumerated().map { id, format in
            AssetTrack(
                id: id, kind: format.0, format: format.1, timeBase: format.2, duration: duration, bitRate: 0, language: nil, title: nil,
                isDefault: true, isDecodable: true)
        }
    }
}
