internal import ArgumentParser
internal import Capture
internal import Media

/// A size as people write it: `1280x720`.
struct CameraSizeArgument: ExpressibleByArgument {
    let size: PixelSize

    init?(argument: String) {
        let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], (1...65_536).contains(width), (1...65_536).contains(height) else {
            return nil
        }
        size = PixelSize(width: width, height: height)
    }
}

/// Frames a second as people write them: `30`, `29.97`, `30000/1001`.
struct CameraRateArgument: ExpressibleByArgument {
    let rate: Ratio

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let numerator = Int32(parts[0]), let denominator = Int32(parts[1]), numerator > 0, denominator > 0 {
            rate = Ratio(numerator, denominator)
        } else {
            guard let number = Double(argument), (0.001...1000).contains(number) else { return nil }
            let isWhole = number == number.rounded()
            rate = isWhole ? Ratio(Int32(number), 1) : Ratio(Int32((number * 1000).rounded()), 1000)
        }
    }
}

/// A format's four characters: `NV12`.
struct CodeArgument: ExpressibleByArgument {
    let code: FourCC

    init?(argument: String) {
        let bytes = Array(argument.utf8)
        guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        // `Y16` is the driver's "Y16 ".
        let padded = bytes + Array(repeating: 0x20, count: 4 - bytes.count)
        code = FourCC(rawValue: padded.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) })
    }
}

/// The options of a camera.
struct CameraArguments: ParsableArguments {
    /// Stands for the first camera.
    static let first = "auto"

    @Option(
        defaultAsFlag: first,
        help: ArgumentHelp(
            "A camera instead of a film: its name, a part of it, or its path; by default the first.", valueName: "name|/dev/videoN"))
    var camera: String?

    @Option(help: ArgumentHelp("The camera's format, as `devices` lists them: NV12, YUYV …", valueName: "code"))
    var cameraFormat: CodeArgument?

    @Option(help: ArgumentHelp("The size of the camera's frames.", valueName: "WxH"))
    var cameraSize: CameraSizeArgument?

    @Option(help: ArgumentHelp("The camera's frames a second; it takes the nearest rate that it has.", valueName: "rate"))
    var cameraRate: CameraRateArgument?

    /// `--camera=NAME` as two words, and `--microphone=NAME`: the parser does not see the value of an option that may go without one when it is
    /// written so.
    static func words(_ word: String) -> [String] {
        for option in ["--camera", "--microphone"] where word.hasPrefix(option + "=") { return [option, String(word.dropFirst(option.count + 1))] }
        return [word]
    }

    /// Whether an option asks for a camera.
    var isNamed: Bool { camera != nil || cameraFormat != nil || cameraSize != nil || cameraRate != nil }

    /// What to look for; nil: the first camera.
    var name: String? { camera == Self.first ? nil : camera }

    /// What to ask of it.
    var request: CaptureRequest { CaptureRequest(code: cameraFormat?.code, size: cameraSize?.size, rate: cameraRate?.rate) }
}
