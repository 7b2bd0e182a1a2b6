internal import ArgumentParser
internal import Media

/// How loud films are played by what was measured of them, in mpv's words.
struct ReplayGainArguments: ParsableArguments {
    @Option(help: "Play tracks as loud as each other by their ReplayGain or R128 tags: each track (track), or each album (album).")
    var replaygain = ReplayGainMode.no

    @Option(
        name: .customLong("replaygain-preamp"), parsing: .unconditional,
        help: ArgumentHelp("How much louder than that, -150 to 150; negative: softer.", valueName: "dB"))
    var preamplification = 0.0

    @Option(
        name: .customLong("replaygain-fallback"), parsing: .unconditional,
        help: ArgumentHelp("How much louder sound without tags is played, -200 to 60.", valueName: "dB"))
    var fallback = 0.0

    @Flag(name: .customLong("replaygain-clip"), help: "Limit parts that become too loud, instead of turning the whole track down for them.")
    var mayClip = false

    mutating func validate() throws {
        if !(-150...150).contains(preamplification) { throw ValidationError("--replaygain-preamp must lie between -150 and 150.") }
        if !(-200...60).contains(fallback) { throw ValidationError("--replaygain-fallback must lie between -200 and 60.") }
    }

    var options: ReplayGainOptions {
        var options = ReplayGainOptions()
        options.mode = ReplayGainOptions.Mode(rawValue: replaygain.rawValue) ?? .no
        (options.preamplification, options.fallback, options.mayClip) = (preamplification, fallback, mayClip)
        return options
    }
}

enum ReplayGainMode: String, CaseIterable, ExpressibleByArgument { case no, track, album }
