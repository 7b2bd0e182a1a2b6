import Media
import Testing

/// How loud a film is played by its tags.
@Suite struct ReplayGainTests {
    private static let tags: [([String: String], ReplayGain?)] = [
        (["REPLAYGAIN_TRACK_GAIN": "-6.54 dB", "REPLAYGAIN_TRACK_PEAK": "0.98"], ReplayGain(trackGain: -6.54, trackPeak: 0.98)),
        (["replaygain_track_gain": "+3"], ReplayGain(trackGain: 3)),
        (["replaygain_album_gain": "1 dB", "replaygain_album_peak": "1.2"], ReplayGain(albumGain: 1, albumPeak: 1.2)),
        (["R128_TRACK_GAIN": "-256", "R128_ALBUM_GAIN": "512"], ReplayGain(trackGain: 4, albumGain: 7)),
        (["R128_TRACK_GAIN": "0", "REPLAYGAIN_TRACK_GAIN": "-1 dB"], ReplayGain(trackGain: -1)),
        (["REPLAYGAIN_TRACK_PEAK": "0.5"], nil), ([:], nil), (["REPLAYGAIN_TRACK_GAIN": "loud"], nil), (["REPLAYGAIN_TRACK_GAIN": ""], nil),
        (["REPLAYGAIN_TRACK_GAIN": "nan"], nil), (["REPLAYGAIN_TRACK_GAIN": "inf dB"], nil), (["REPLAYGAIN_TRACK_GAIN": "1e9 dB"], nil),
        (["REPLAYGAIN_TRACK_GAIN": "-3 dB", "REPLAYGAIN_TRACK_PEAK": "-1"], ReplayGain(trackGain: -3)),
    ]

    @Test(arguments: tags) func `tags say gains and peaks`(_ tags: [String: String], _ gain: ReplayGain?) {
        #expect(ReplayGain(tags: tags) == gain)
    }

    private static let track = ReplayGain(trackGain: -6, trackPeak: 1), both = ReplayGain(trackGain: -6, trackPeak: 1, albumGain: 6, albumPeak: 0.8)

    /// Decibels that come out.
    private static let gains: [(ReplayGainOptions.Mode, ReplayGain?, preamp: Double, fallback: Double, mayClip: Bool, factor: Double)] = [
        (.no, both, 10, 10, true, 1), (.track, both, 0, 0, false, 0.501187), (.track, both, 3, 99, false, 0.707946),
        (.album, both, 0, 0, true, 1.995262), (.album, both, 0, 0, false, 1.25), (.album, track, 0, 0, false, 0.501187),
        (.track, ReplayGain(albumGain: -20), 0, 0, false, 0.1), (.track, nil, 5, 0, false, 1), (.track, nil, 5, -20, false, 0.1),
        (.album, ReplayGain(trackPeak: 1), 5, -20, false, 0.1), (.track, track, 12, 0, false, 1), (.track, track, 12, 0, true, 1.995262),
        (.track, ReplayGain(trackGain: 20, trackPeak: 0), 0, 0, false, 10),
    ]

    @Test(arguments: gains.indices) func `the gain is the wanted one, and no larger than the peak allows`(_ index: Int) {
        let row = Self.gains[index]
        var options = ReplayGainOptions()
        (options.mode, options.preamplification, options.fallback, options.mayClip) = (row.0, row.preamp, row.fallback, row.mayClip)
        #expect(abs(options.factor(for: row.1) - row.factor) < 1e-6)
    }
}
