internal import Media

/// What is special about one of libavcodec's encoders: by which options it follows the properties.
struct EncoderTraits: Sendable {
    enum Quality: Sendable {
        case none
        /// An option from the worst value to the best.
        case option(String, worst: Double, best: Double)
        /// libavcodec's quantizer, from 31 to 2.
        case quantizer
    }

    enum Delay: Sendable {
        case none
        /// x264 and x265: B-frames and frames to look ahead.
        case lookahead(parameters: String)
        /// libvpx and libaom: `lag-in-frames`.
        case lag
        /// Devices: B-frames, and the frame that is encoded while the next one comes.
        case device
    }

    /// How an encoder keeps what its first pass has shown.
    enum Passes: Sendable, Hashable {
        /// It makes one pass only.
        case none
        /// In files; the option takes their path.
        case path(option: String)
        /// In files; the pass and their path are keys in a list of parameters.
        case parameters(option: String)
        /// In a text that libavcodec hands out and takes.
        case text
    }

    /// A device encodes.
    var isDevice = false
    /// Options that it is opened with whatever the properties are, unless these say otherwise.
    var base: [String: String] = [:]
    var quality = Quality.none
    var hasRate = true
    var hasRateLimit = false
    /// Every sample is a sync sample.
    var isIntraOnly = false
    var reorders = false
    var profiles: [String] = []
    /// The option that takes a level; with a colon: the key in a list of parameters.
    var level: String?
    /// Options for encoding as fast as the film plays.
    var realTime: [String: String] = [:]
    var delay = Delay.none
    /// The option that takes what libavcodec has no field for, and there the keys of the HDR10 metadata.
    var hdr: (option: String, display: String, light: String)?
    /// It makes a key frame where one is asked for, and only there. Others are opened anew.
    var forcesKeyFrames = true
    /// Its rate may change while it runs.
    var changesRate = false
    var passes = Passes.none
    /// The option in whose list of parameters the two following stand.
    var parameterList = ""
    /// With it the parameter sets do not depend on rates and qualities, so that all passes have the same.
    var steady: String?
    /// With it, and with the other, parts that are encoded apart fit together: nothing is needed across a sync sample.
    var closed: String?
    /// Options without which it takes no frames with alpha.
    var alphaOptions: [String: String] = [:]

    /// By libavcodec's name; an encoder that is not listed has what every encoder has.
    static func of(_ name: String) -> EncoderTraits { table[name] ?? EncoderTraits() }

    private static let table: [String: EncoderTraits] = [
        "libx264": EncoderTraits(
            quality: .option("crf", worst: 51, best: 0), hasRateLimit: true, reorders: true,
            profiles: ["baseline", "main", "high", "high10", "high422", "high444"], level: "level",
            realTime: ["preset": "veryfast", "tune": "zerolatency"], delay: .lookahead(parameters: "x264-params"),
            hdr: ("x264-params", "mastering-display", "cll"), changesRate: true, passes: .path(option: "stats"),
            parameterList: "x264-params", steady: "stitchable=1", closed: "open-gop=0"),
        "libx265": EncoderTraits(
            quality: .option("crf", worst: 51, best: 0), hasRateLimit: true, reorders: true,
            profiles: ["main", "main10", "main422-10", "main444-8", "main444-10", "main12", "main422-12", "main444-12"],
            level: "x265-params:level-idc", realTime: ["preset": "ultrafast", "tune": "zerolatency"], delay: .lookahead(parameters: "x265-params"),
            hdr: ("x265-params", "master-display", "max-cll"), passes: .parameters(option: "x265-params"),
            parameterList: "x265-params", steady: "info=0", closed: "open-gop=0"),
        "libsvtav1": EncoderTraits(
            quality: .option("crf", worst: 63, best: 1), realTime: ["preset": "10"],
            hdr: ("svtav1-params", "mastering-display", "content-light"), forcesKeyFrames: false),
        "libaom-av1": EncoderTraits(
            quality: .option("crf", worst: 63, best: 0), hasRateLimit: true,
            realTime: ["usage": "realtime", "cpu-used": "8", "lag-in-frames": "0"], delay: .lag, forcesKeyFrames: false,
            passes: .text),
        "librav1e": EncoderTraits(
            quality: .option("qp", worst: 255, best: 0), realTime: ["speed": "10", "rav1e-params": "low_latency=true"],
            forcesKeyFrames: false, passes: .text),
        "libvpx-vp9": EncoderTraits(
            quality: .option("crf", worst: 63, best: 0), hasRateLimit: true, level: "level",
            realTime: ["deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"], delay: .lag, passes: .text),
        "libvpx": EncoderTraits(passes: .text, alphaOptions: ["auto-alt-ref": "0"]),
        "mpeg4": EncoderTraits(passes: .text),
        "mpeg2video": EncoderTraits(passes: .text),
        "prores_ks": EncoderTraits(
            hasRate: false, isIntraOnly: true, profiles: ["proxy", "lt", "standard", "hq", "4444", "4444xq"]),
        "prores": EncoderTraits(hasRate: false, isIntraOnly: true),
        "prores_aw": EncoderTraits(hasRate: false, isIntraOnly: true),
        "mjpeg": EncoderTraits(quality: .quantizer, isIntraOnly: true),
        "ffv1": EncoderTraits(hasRate: false, isIntraOnly: true),
    ]

    /// The smallest change of `EncodingProperties.quality` that the encoder sees; nil where it has no quality.
    var qualityStep: Double? {
        switch quality {
        case .none: nil
        case .option(_, let worst, let best): 1 / abs(worst - best)
        case .quantizer: 1.0 / 29
        }
    }

    /// - Parameter hasThreads: Whether the encoder runs on several threads.
    func descriptions(hasThreads: Bool) -> [EncodingPropertyDescription] {
        var all: [EncodingPropertyDescription] = []
        if hasRate { all.append(.init(.averageBitRate, .integer, 1000...1e9, changesWithoutKeyFrame: changesRate)) }
        if hasRateLimit { all.append(.init(.rateLimit, .number, 1000...1e9, changesWithoutKeyFrame: changesRate)) }
        if case .none = quality {} else { all.append(.init(.quality, .number, 0...1)) }
        if !isIntraOnly {
            all.append(.init(.keyFrameInterval, .integer, 1...100_000))
            all.append(.init(.keyFrameIntervalDuration, .time, 0.001...86_400))
        }
        if reorders { all.append(.init(.allowsReordering, .flag, default: "true")) }
        if !profiles.isEmpty { all.append(.init(.profile, .choice(profiles))) }
        if level != nil { all.append(.init(.level, .text)) }
        if !realTime.isEmpty { all.append(.init(.isRealTime, .flag, default: "false")) }
        all.append(.init(.expectedFrameRate, .number, 0.1...1000))
        if hasThreads { all.append(.init(.threads, .integer, 0...64, default: "0")) }
        if case .none = delay {} else { all.append(.init(.maximumDelay, .integer, 0...60)) }
        return all
    }

    /// The options of libavcodec and the encoder that follow `properties`.
    ///
    /// - Parameters:
    ///   - frameRate: Of the rate control.
    ///   - metadata: For encoders that write HDR10 metadata themselves.
    func options(for properties: EncodingProperties, frameRate: Ratio, hdr metadata: HDRStaticMetadata?) -> [String: String] {
        var options = base, parameters: [String: [String]] = [:]
        if properties.isRealTime == true {
            for (key, value) in realTime {
                if key.hasSuffix("-params") { parameters[key, default: []].append(value) } else { options[key] = value }
            }
        }
        if let rate = properties.averageBitRate { options["b"] = String(rate) }
        if let limit = properties.rateLimit {
            options["maxrate"] = String(Int((Double(limit.bits) / limit.seconds).rounded()))
            options["bufsize"] = String(limit.bits)
        }
        if let share = properties.quality {
            switch quality {
            case .none: break
            case .option(let name, let worst, let best):
                options[name] = String(Int((worst + (best - worst) * share).rounded()))
                // libvpx and libaom keep a rate beside the quality unless it is 0.
                if properties.averageBitRate == nil { options["b"] = "0" }
            case .quantizer:
                options["flags"] = "+qscale"
                options["global_quality"] = String(Int(((31 - 29 * share) * 118).rounded()))
            }
        }
        var interval = properties.keyFrameInterval
        if let seconds = properties.keyFrameIntervalDuration?.seconds {
            interval = min(interval ?? .max, max(1, Int(seconds * frameRate.doubleValue)))
        }
        if let interval { options["g"] = String(interval) }
        if properties.allowsReordering == false { options["bf"] = "0" }
        if let profile = properties.profile { options["profile"] = profile }
        if let value = properties.level, let level {
            let parts = level.split(separator: ":")
            if parts.count == 2 { parameters[String(parts[0]), default: []].append("\(parts[1])=\(value)") } else { options[level] = value }
        }
        if let threads = properties.threads { options["threads"] = String(threads) }
        if let frames = properties.maximumDelay { limitDelay(to: frames, properties, &options, &parameters) }
        if let hdr, let metadata { parameters[hdr.option, default: []] += Self.texts(metadata, hdr, name: hdr.option) }
        // x265 would write to standard error, which belongs to the program.
        if hdr?.option == "x265-params" { parameters["x265-params", default: []].append("log-level=none") }
        for (key, list) in parameters { options[key] = list.joined(separator: ":") }
        return options
    }

    /// Frames that x265 holds back at least when it is not tuned for no delay: one to look ahead, and three on its way through.
    private static let ownFrames = 4

    private func limitDelay(
        to frames: Int, _ properties: EncodingProperties, _ options: inout [String: String], _ parameters: inout [String: [String]]
    ) {
        switch delay {
        case .none: break
        case .lag: options["lag-in-frames"] = String(frames)
        case .device:
            let mostReordered = !reorders || properties.allowsReordering == false ? 0 : min(2, frames)
            options["bf"] = String(mostReordered)
            options["async_depth"] = frames > mostReordered ? "2" : "1"
        case .lookahead(let name):
            // Frame threads and a look-ahead on a thread of its own would each hold frames back beside the look-ahead itself.
            let own = name == "x264-params" ? 1 : Self.ownFrames
            // The look-ahead is longer than the B-frames that it decides about.
            let spare = frames - own, mostReordered = properties.allowsReordering == false ? 0 : min(2, max(spare, 0) / 2)
            options["bf"] = String(mostReordered)
            if name == "x264-params" {
                if frames == 0 { options["tune"] = "zerolatency" }
                parameters[name, default: []] += ["sliced-threads=1", "sync-lookahead=0", "rc-lookahead=\(max(spare - mostReordered, 0))"]
            } else if spare < 0 {
                options["tune"] = "zerolatency"
                parameters[name, default: []].append("frame-threads=1")
            } else {
                parameters[name, default: []] += ["frame-threads=1", "rc-lookahead=\(spare - mostReordered + 1)"]
            }
        }
    }

    /// The HDR10 metadata in the notation of the encoders: in the units of HEVC's SEI messages, for SVT-AV1 as fractions.
    private static func texts(_ hdr: HDRStaticMetadata, _ keys: (option: String, display: String, light: String), name: String) -> [String] {
        let isFraction = name == "svtav1-params"
        func point(_ letter: String, _ point: HDRStaticMetadata.Chromaticity) -> String {
            if isFraction { return "\(letter)(\(Double(point.x) / 50_000),\(Double(point.y) / 50_000))" }
            return "\(letter)(\(point.x),\(point.y))"
        }
        var luminance = "L(\(hdr.maximumLuminance),\(hdr.minimumLuminance))"
        if isFraction { luminance = "L(\(Double(hdr.maximumLuminance) / 10_000),\(Double(hdr.minimumLuminance) / 10_000))" }
        let points = point("G", hdr.green) + point("B", hdr.blue) + point("R", hdr.red) + point("WP", hdr.white)
        return ["\(keys.display)=\(points)\(luminance)", "\(keys.light)=\(hdr.maximumContentLightLevel),\(hdr.maximumFrameAverageLightLevel)"]
    }
}
