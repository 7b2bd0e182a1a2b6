internal import ArgumentParser
internal import KMSSink
internal import Media
internal import Player

// What the values of options are, as people write them.

/// A time as people type it: `90`, `90.5`, `1:30`, `00:01:30.250`.
struct TimeArgument: ExpressibleByArgument {
    let time: MediaTime

    init?(argument: String) {
        guard let time = MediaTime(clockText: argument), time >= .zero else { return nil }
        self.time = time
    }
}

/// A place in a film as people type it: `90`, `1:30`, `-10` before the end, `50%`, `#2`, `2026-11-27T20:15:00Z`.
struct PointArgument: ExpressibleByArgument {
    let point: FilmPoint

    init?(argument: String) {
        guard let point = FilmPoint(text: argument) else { return nil }
        self.point = point
    }
}

/// How much of a film plays: a time above zero, or a share of it such as `50%`.
struct LengthArgument: ExpressibleByArgument {
    enum Length: Hashable {
        case time(MediaTime)
        /// Above 0 to 1.
        case share(Double)
    }

    let length: Length

    init?(argument: String) {
        switch FilmPoint(text: argument) {
        case .time(let time) where time > .zero: length = .time(time)
        case .share(let share) where share > 0: length = .share(share)
        default: return nil
        }
    }
}

/// How long an image stays: a time above zero, or `inf`.
struct ImageDurationArgument: ExpressibleByArgument {
    let time: MediaTime

    init?(argument: String) {
        if argument == "inf" {
            time = .positiveInfinity
        } else {
            guard let time = MediaTime(clockText: argument), time > .zero else { return nil }
            self.time = time
        }
    }
}

/// Where the frames go.
enum SinkChoice: ExpressibleByArgument, Equatable {
    case auto, wayland, kms, headless
    case md5(path: String)

    init?(argument: String) {
        switch argument {
        case "auto": self = .auto
        case "wayland": self = .wayland
        case "kms": self = .kms
        case "headless": self = .headless
        case _ where argument.hasPrefix("md5=") && argument.count > 4: self = .md5(path: String(argument.dropFirst(4)))
        default: return nil
        }
    }
}

/// A mode as people write it: `auto`, `film`, `1920x1080`, `1920x1080@59.94`.
struct ModeArgument: ExpressibleByArgument {
    let request: ModeRequest
    init(request: ModeRequest) { self.request = request }
    init?(argument: String) {
        guard let request = ModeRequest(text: argument) else { return nil }
        self.request = request
    }
    var defaultValueDescription: String { "auto" }
}

enum RefreshChoice: String, ExpressibleByArgument, CaseIterable { case auto, keep }
enum VRRChoice: String, ExpressibleByArgument, CaseIterable { case auto, on, off }
enum UnplugChoice: String, ExpressibleByArgument, CaseIterable {
    case goOn = "go-on"
    case pause
}

enum StallChoice: String, ExpressibleByArgument, CaseIterable {
    case wait
    case goOn = "go-on"
}

enum FileSearchChoice: String, ExpressibleByArgument, CaseIterable { case exact, no }

enum SandboxChoice: String, ExpressibleByArgument, CaseIterable { case off, decoder, full, require }
enum DecoderChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, hardware, software
    case vaapi = "va-api"
}
enum RawCodec: String, ExpressibleByArgument, CaseIterable { case h264, hevc }
enum ToneMappingChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, clip, linear, reinhard, mobius, hable, no
    case bt2390 = "bt.2390"
}

/// The brightest white of a display: `auto`, or a number of cd/m².
struct PeakArgument: ExpressibleByArgument {
    /// nil: the usual one.
    let peak: Double?
    init(peak: Double?) { self.peak = peak }
    init?(argument: String) {
        if argument == "auto" {
            peak = nil
        } else {
            guard let peak = Double(argument), (10...10_000).contains(peak) else { return nil }
            self.peak = peak
        }
    }
    var defaultValueDescription: String { "auto" }
}

enum DeinterlaceChoice: String, ExpressibleByArgument, CaseIterable { case auto, yes, no }
