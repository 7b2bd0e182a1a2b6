internal import Media
internal import Reading

/// The sound of a composition's track by position, read forward.
///
/// Thread-safety: one thread at a time.
final class TrackSound {
    let track: CompositionTrack
    private let rate: Int32
    private let channels: Int
    private let open: (CompositionSource) throws(ReadingError) -> AudioTrackOutput
    private var films = RecentlyUsed<CompositionSource, AudioTrackOutput>(limit: 4)
    /// The segment that is read, and its film.
    private var segment: Int?
    private var output: AudioTrackOutput?
    /// Sound of that film that has been read, and the film's position where it begins.
    private var samples: [Float] = []
    private var base: Int64 = 0
    private var isAtEnd = false

    init(
        _ track: CompositionTrack, rate: Int32, channels: Int, _ open: @escaping (CompositionSource) throws(ReadingError) -> AudioTrackOutput
    ) {
        self.track = track
        (self.rate, self.channels) = (rate, channels)
        self.open = open
    }

    /// Begins anew: any position may come next.
    func restart() { segment = nil }

    /// The number of the first frame of sound at or after a time.
    private func number(_ time: MediaTime) -> Int64 { time.converted(to: rate, rounding: .towardPositiveInfinity).value }

    /// Adds the track's sound between two positions of the composition to `mix`, frame by frame.
    func add(_ range: Range<Int64>, to mix: inout [Float], volume: Ramped<Double>) throws(ReadingError) {
        var position = range.lowerBound
        while position < range.upperBound, let index = track.index(at: MediaTime(value: position, timescale: rate)) {
            let part = track.segments[index], end = min(number(part.range.end), range.upperBound)
            if let source = part.source {
                let place = Int(position - range.lowerBound) * channels
                try add(position..<end, of: part.mapping, source, index, to: &mix, at: place, volume)
            }
            position = max(end, position + 1)
        }
    }

    private func add(
        _ range: Range<Int64>, of mapping: MediaTimeMapping, _ source: CompositionSource, _ index: Int, to mix: inout [Float], at place: Int,
        _ volume: Ramped<Double>
    ) throws(ReadingError) {
        let own = Position(mapping, rate)
        let first = own.whole(range.lowerBound)
        if segment != index || first < base {
            let output = try films.value(source) { () throws(ReadingError) in try open(source) }
            try output.reset(forReadingTimeRanges: [MediaTimeRange(start: MediaTime(value: first, timescale: rate), end: mapping.source.end)])
            self.output = output
            segment = index
            (samples, base, isAtEnd) = ([], first, false)
        }
        try read(until: own.whole(range.upperBound - 1) + 2, from: first)
        let times = MediaTimeRange(
            start: MediaTime(value: range.lowerBound, timescale: rate), end: MediaTime(value: range.upperBound, timescale: rate))
        let changes = volume.changes(in: times)
        var factor = Float(volume.value(at: times.start)), target = place
        for position in range {
            if changes { factor = Float(volume.value(at: MediaTime(value: position, timescale: rate))) }
            let from = own.whole(position), fraction = Float(own.fraction(position))
            for channel in 0..<channels {
                var value = sample(from, channel)
                if fraction > 0 { value += (sample(from + 1, channel) - value) * fraction }
                mix[target] += value * factor
                target += 1
            }
        }
    }

    private func sample(_ position: Int64, _ channel: Int) -> Float {
        let index = Int(position - base) * channels + channel
        return samples.indices.contains(index) ? samples[index] : 0
    }

    /// Reads the film's sound to a position, and forgets what lies before another. What the film lacks is silent.
    private func read(until end: Int64, from start: Int64) throws(ReadingError) {
        let old = min(Int(start - base) * channels, samples.count)
        if old > 0 {
            samples.removeFirst(old)
            base += Int64(old / channels)
        }
        while !isAtEnd, base + Int64(samples.count / channels) < end {
            guard let buffer = try output?.nextBuffer() else {
                isAtEnd = true
                return
            }
            let reached = base + Int64(samples.count / channels)
            if buffer.position > reached { samples += [Float](repeating: 0, count: Int(buffer.position - reached) * channels) }
            samples += buffer.samples.dropFirst(max(Int(reached - buffer.position), 0) * channels)
        }
    }

    /// Positions of the film by positions of the composition. At the film's own speed they are whole numbers; at another speed the sound is
    /// interpolated, and its pitch follows the speed.
    private struct Position {
        private let mapping: MediaTimeMapping
        private let rate: Int32
        /// At the film's own speed.
        private let offset: Int64?

        init(_ mapping: MediaTimeMapping, _ rate: Int32) {
            (self.mapping, self.rate) = (mapping, rate)
            offset = mapping.keepsSpeed ? (mapping.source.start - mapping.target.start).converted(to: rate).value : nil
        }

        func whole(_ position: Int64) -> Int64 { offset.map { position + $0 } ?? Int64(exact(position).rounded(.down)) }

        func fraction(_ position: Int64) -> Double {
            guard offset == nil else { return 0 }
            let exact = exact(position)
            return exact - exact.rounded(.down)
        }

        private func exact(_ position: Int64) -> Double {
            let elapsed = Double(position) / Double(rate) - mapping.target.start.seconds
            return (mapping.source.start.seconds + elapsed * mapping.speed) * Double(rate)
        }
    }
}
