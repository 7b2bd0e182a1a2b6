internal import ArgumentParser
internal import Media
internal import PlaySupport
internal import Player
internal import Reading
internal import Sandbox

/// Times separated by commas: `10,20.5,1:30`.
struct TimesArgument: ExpressibleByArgument {
    let times: [MediaTime]

    init?(argument: String) {
        let times = argument.split(separator: ",", omittingEmptySubsequences: false).map { TimeArgument(argument: String($0))?.time }
        guard times.allSatisfy({ $0 != nil }) else { return nil }
        self.times = times.compactMap { $0 }
    }
}

/// A size of which one side may be left out: `320x`, `x180`, `320x180`.
struct SizeArgument: ExpressibleByArgument {
    let size: PixelSize

    init?(argument: String) {
        let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map { $0.isEmpty ? 0 : Int($0) ?? -1 }
        guard sides.count == 2, sides.allSatisfy({ (0...16_384).contains($0) }), sides != [0, 0] else { return nil }
        size = PixelSize(width: sides[0], height: sides[1])
    }
}

enum ImageChoice: String, ExpressibleByArgument, CaseIterable { case png, jpeg }

/// `play frames FILE`: writes frames as image files.
struct Frames: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames",
        abstract: "Write frames of a film as image files, or one sheet of many.",
        discussion: "Frames are written upright and with square pixels, and the path of each file is printed. Without --at and --every, --sheet "
            + "takes 16 frames, spread evenly.")

    @Argument(help: "A file or a URL that libavformat opens, or a time line (.otio).")
    var file: String

    @Option(help: ArgumentHelp("The times of the frames: seconds or hh:mm:ss.mmm, separated by commas.", valueName: "times"))
    var at: TimesArgument?

    @Option(help: ArgumentHelp("A frame of each such span of time, from the beginning on.", valueName: "time"))
    var every: TimeArgument?

    @Option(help: ArgumentHelp("Make larger frames smaller, keeping their shape: 320x180, 320x or x180.", valueName: "size"))
    var size: SizeArgument?

    @Option(name: [.customShort("o"), .long], help: ArgumentHelp("The folder for the files (default: this one).", valueName: "folder"))
    var output: String?

    @Option(help: ArgumentHelp("Write one image of all frames with their times (.png or .jpg). Single files need -o then.", valueName: "file"))
    var sheet: String?

    @Option(help: ArgumentHelp("Frames in a row of the sheet.", valueName: "count"))
    var columns = 4

    @Option(help: "The format of the files: png or jpeg.")
    var format: ImageChoice = .png

    @Option(help: ArgumentHelp("The quality of JPEG files, 1 to 100.", valueName: "number"))
    var quality = 90

    @Option(help: ArgumentHelp("As for playback.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    mutating func validate() throws {
        if at == nil, every == nil, sheet == nil { throw ValidationError("Which frames? Say --at, --every or --sheet.") }
        if let every, every.time <= .zero { throw ValidationError("--every must be above zero.") }
        if !(1...100).contains(columns) { throw ValidationError("--columns must lie between 1 and 100.") }
        if !(1...100).contains(quality) { throw ValidationError("--quality must lie between 1 and 100.") }
    }

    func run() throws {
        var options = FrameExtraction.Options()
        options.times = at?.times ?? []
        options.interval = every?.time
        options.size = size?.size ?? (sheet != nil && output == nil ? PixelSize(width: 320, height: 0) : nil)
        options.format = format == .png ? .png : .jpeg(quality: quality)
        options.folder = output ?? (sheet == nil ? "." : nil)
        options.sheet = sheet
        options.columns = columns
        options.sandbox = SandboxOptions(policy: SandboxPolicy(rawValue: sandbox.rawValue) ?? .off)
        let extraction = try FrameExtraction(location: file, options: options)
        for notice in extraction.notices { Terminal.write(notice.printable + "\n") }
        try extraction.run { path throws(PlayerError) in try StandardOutput.write(path + "\n") }
    }
}
