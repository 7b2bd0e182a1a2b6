public import Media
public import Reading

/// Reads the sound of a composition: all its tracks of sound, mixed.
///
///     let output = CompositionSoundOutput(of: film, mix)
///     while let sound = try output.nextBuffer() { … }
///
/// The counterpart of `AVAssetReaderAudioMixOutput`. Cuts and ramps are exact to the frame of sound. The sums are not limited to full scale. At
/// another speed than the film's own the pitch changes with the speed.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public final class CompositionSoundOutput: @unchecked Sendable {
    /// What is read.
    public let composition: Composition
    /// How loud each track is.
    public let mix: AudioMix
    /// Hertz.
    public let sampleRate: Int32
    /// Channels in a frame of sound.
    public let channelCount: Int
    private var tracks: [TrackSound] = []
    private var position: Int64 = 0
    private var end: Int64
    private let films = OpenFilms()

    /// Frames of sound in a buffer.
    private static let bufferLength: Int64 = 1024

    /// Films are opened when their first sound is wanted.
    ///
    /// - Parameters:
    ///   - mix: How loud each track is.
    ///   - sampleRate: Hertz; the sound of films is converted.
    ///   - channelCount: The sound of films is mixed down or spread.
    ///   - options: How the films are opened.
    /// - Throws: `.composition` when the mix names a track that is not there, or a volume makes no sense.
    public init(
        of composition: Composition, _ mix: AudioMix = AudioMix(), sampleRate: Int32 = 48_000, channelCount: Int = 2,
        options: ReadingOptions = ReadingOptions()
    ) throws(ReadingError) {
        precondition(sampleRate > 0 && channelCount > 0, "sound has a rate and at least one channel")
        if let error = ReadingError({ mix.isValid(for: composition, $0) }) { throw error }
        self.composition = composition
        self.mix = mix
        (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
        end = Self.number(composition.duration, sampleRate)
        let films = films
        tracks = composition.tracks(.sound).map { track in
            TrackSound(track, rate: sampleRate, channels: channelCount) { source throws(ReadingError) in
                let film = try AudioTrackOutput(
                    url: source.url, track: source.trackID, sampleRate: sampleRate, channelCount: channelCount, options: options)
                films.add(film, notice: film.notice)
                return film
            }
        }
    }

    /// The number of the first frame of sound at or after a time.
    private static func number(_ time: MediaTime, _ rate: Int32) -> Int64 { time.converted(to: rate, rounding: .towardPositiveInfinity).value }

    /// Reads this range from now on: the frames of sound that begin in it. Any number of times.
    public func reset(forReadingTimeRange range: MediaTimeRange) {
        let part = range.intersection(composition.range)
        position = Self.number(part.start, sampleRate)
        end = max(Self.number(part.end, sampleRate), position)
        for track in tracks { track.restart() }
    }

    /// The next sound; nil at the end. Blocks while the films do.
    /// - Throws: What keeps a film from being read; `.cancelled`.
    public func nextBuffer() throws(ReadingError) -> SoundBuffer? {
        try films.check()
        guard position < end else { return nil }
        let range = position..<min(position + Self.bufferLength, end)
        var samples = [Float](repeating: 0, count: range.count * channelCount)
        for track in tracks { try track.add(range, to: &samples, volume: mix.volume(of: track.track.id)) }
        position = range.upperBound
        return SoundBuffer(position: range.lowerBound, sampleRate: sampleRate, channelCount: channelCount, samples: samples)
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() { films.cancel() }
}
