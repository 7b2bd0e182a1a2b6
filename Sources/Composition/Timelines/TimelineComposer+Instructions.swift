internal import Media

extension TimelineComposer {
    /// The sound of all tracks, with its dissolves.
    var audioMix: AudioMix { AudioMix(volumes: levels.filter { composition.track($0.key)?.kind == .sound }) }

    /// All tracks over each other, with their dissolves.
    func videoComposition(size: PixelSize) -> VideoComposition {
        var video = VideoComposition(frameDuration: frameDuration ?? MediaTime(value: 1, timescale: 25), renderSize: size)
        let tracks = composition.tracks(.video)
        var borders = Set<MediaTime>([.zero, composition.duration])
        for track in tracks {
            for segment in track.segments { borders.formUnion([segment.range.start, segment.range.end]) }
            for ramp in levels[track.id]?.ramps ?? [] { borders.formUnion([ramp.range.start, ramp.range.end]) }
        }
        let times = borders.filter { $0 >= .zero && $0 <= composition.duration }.sorted()
        for (start, end) in zip(times, times.dropFirst()) {
            let range = MediaTimeRange(start: start, end: end)
            let layers = tracks.reversed().filter { $0.segment(at: start)?.isEmpty == false }.map { track in
                var layer = VideoCompositionLayer(track: track.id, fit: .fit)
                let opacity = levels[track.id] ?? Ramped(1)
                if opacity.changes(in: range) { layer.opacity = opacity } else { layer.opacity = Ramped(opacity.value(at: start)) }
                return layer
            }
            video.instructions.append(VideoCompositionInstruction(timeRange: range, layers: layers))
        }
        return video
    }
}
