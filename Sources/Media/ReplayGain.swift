internal import Glibc

/// How loud a track, and the album that it belongs to, were measured to be: ReplayGain 1.0 and 2.0, or the R128 tags of Opus (RFC 7845, 5.2.1).
///
/// Thread-safety: a value.
public struct ReplayGain: Sendable, Hashable {
    /// Decibels by which the track is to be louder, below zero softer; nil: not measured.
    public var trackGain: Double?
    /// The track's largest sample; 1 is full scale.
    public var trackPeak: Double?
    /// Decibels for the whole album, which keeps the differences between its tracks.
    public var albumGain: Double?
    /// The album's largest sample.
    public var albumPeak: Double?

    /// Takes the values as they are.
    public init(trackGain: Double? = nil, trackPeak: Double? = nil, albumGain: Double? = nil, albumPeak: Double? = nil) {
        self.trackGain = trackGain
        self.trackPeak = trackPeak
        self.albumGain = albumGain
        self.albumPeak = albumPeak
    }

    /// What tags say, such as `REPLAYGAIN_TRACK_GAIN` with `-6.54 dB`; nil when they say no gain. Small and capital letters are alike.
    public init?(tags: [String: String]) {
        let tags = Dictionary(tags.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        func value(_ name: String, within bounds: ClosedRange<Double>) -> Double? {
            guard let text = tags[name]?.split(separator: " ").first, let value = Double(text), bounds.contains(value) else { return nil }
            return value
        }
        // R128 counts 256ths of a decibel from -23 LUFS, ReplayGain 2.0 from -18.
        func gain(_ part: String) -> Double? {
            value("replaygain_\(part)_gain", within: Self.gains) ?? value("r128_\(part)_gain", within: -32768...32767).map { $0 / 256 + 5 }
        }
        trackGain = gain("track")
        albumGain = gain("album")
        trackPeak = value("replaygain_track_peak", within: Self.peaks)
        albumPeak = value("replaygain_album_peak", within: Self.peaks)
        if trackGain == nil, albumGain == nil { return nil }
    }

    /// What anybody has measured: tags beyond are damaged.
    package static let gains = -200.0...200.0, peaks = 0.0...1000.0
}

/// Whether films are played as loud as each other, by what was measured of them.
///
/// Thread-safety: a value.
public struct ReplayGainOptions: Sendable, Hashable {
    /// Which measurement counts.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// None: the sound is as it was recorded.
        case no
        /// The track's; the album's where the track has none.
        case track
        /// The album's; the track's where there is none.
        case album
    }

    /// Which measurement counts.
    public var mode = Mode.no
    /// Decibels in addition, for what was measured.
    public var preamplification = 0.0
    /// Decibels for what was not measured.
    public var fallback = 0.0
    /// Whether the largest sample may exceed full scale. Otherwise the gain is no larger than its peak allows, where that is known.
    public var mayClip = false

    /// By default nothing is changed.
    public init() {}

    /// The factor on the samples of a track; 1 leaves them as they are.
    public func factor(for gain: ReplayGain?) -> Double {
        guard mode != .no else { return 1 }
        guard let gain, gain.trackGain != nil || gain.albumGain != nil else { return Self.factor(fallback) }
        let isAlbum = mode == .album ? gain.albumGain != nil : gain.trackGain == nil
        let decibels = (isAlbum ? gain.albumGain : gain.trackGain) ?? 0, peak = isAlbum ? gain.albumPeak : gain.trackPeak
        let factor = Self.factor(decibels + preamplification)
        guard !mayClip, let peak, peak > 0 else { return factor }
        return min(factor, 1 / peak)
    }

    private static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}
