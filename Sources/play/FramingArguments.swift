internal import ArgumentParser
internal import DisplaySink
internal import Media
internal import RemoteControl

/// Which part of the film the display shows, how it turns it, and how it fits.
struct FramingArguments: ParsableArguments {
    @Option(help: "How the film fits the window: whole (aspect), cropped (fill) or distorted (stretch).")
    var gravity: GravityChoice = .aspect

    @Option(help: "How much of the borders is filled by cutting the film's edges off, from 0 (the whole film) to 1 (no borders).")
    var panscan = 0.0

    @Option(parsing: .unconditional, help: "Show the film larger by this power of two: 1 is twice as wide and high, -1 half.")
    var videoZoom = 0.0

    @Option(parsing: .unconditional, help: "Show the film this share of its width to the right, -3 to 3.")
    var videoPanX = 0.0

    @Option(parsing: .unconditional, help: "Show the film this share of its height further down, -3 to 3.")
    var videoPanY = 0.0

    @Option(help: "Turn the film clockwise: 0, 90, 180 or 270 degrees.")
    var videoRotate = RotationArgument(rotation: .none)

    @Flag(help: "Exchange left and right, as a mirror does.")
    var videoMirror = false

    @Option(help: ArgumentHelp("Give the film another aspect ratio, such as 16:9 or 2.35; no: its own.", valueName: "ratio"))
    var videoAspectOverride = AspectArgument(ratio: .unknown)

    @Option(help: ArgumentHelp("Show this part of the film only, in its pixels.", valueName: "WxH+X+Y"))
    var videoCrop: CropArgument?

    mutating func validate() throws {
        if !Framing.panscanRange.contains(panscan) { throw ValidationError("--panscan must lie between 0 and 1.") }
        if !Framing.zoomRange.contains(videoZoom) { throw ValidationError("--video-zoom must lie between -20 and 20.") }
        if !Framing.panRange.contains(videoPanX) { throw ValidationError("--video-pan-x must lie between -3 and 3.") }
        if !Framing.panRange.contains(videoPanY) { throw ValidationError("--video-pan-y must lie between -3 and 3.") }
        if gravity != .aspect, panscan != 0 { throw ValidationError("--panscan has a meaning with --gravity aspect only.") }
    }

    /// All of it together.
    var framing: Framing {
        var framing = Framing(gravity: Gravity(rawValue: gravity.rawValue) ?? .aspect)
        (framing.panscan, framing.zoom, framing.panX, framing.panY) = (panscan, videoZoom, videoPanX, videoPanY)
        framing.orientation = FrameOrientation(rotation: videoRotate.rotation, isMirrored: videoMirror)
        framing.aspectRatio = videoAspectOverride.ratio
        framing.crop = videoCrop?.part
        return framing
    }
}

enum GravityChoice: String, ExpressibleByArgument, CaseIterable { case aspect, fill, stretch }

struct RotationArgument: ExpressibleByArgument {
    let rotation: FrameOrientation.Rotation
    init(rotation: FrameOrientation.Rotation) { self.rotation = rotation }
    init?(argument: String) {
        guard let degrees = argument == "no" ? 0 : Int(argument), let rotation = FrameOrientation.Rotation(rawValue: degrees) else { return nil }
        self.rotation = rotation
    }
    var defaultValueDescription: String { "0" }
}

struct AspectArgument: ExpressibleByArgument {
    let ratio: Ratio
    init(ratio: Ratio) { self.ratio = ratio }
    init?(argument: String) {
        guard let ratio = FramingChange.ratio(argument) else { return nil }
        self.ratio = ratio
    }
    var defaultValueDescription: String { "no" }
}

/// `640x360+100+50`; without a place the part lies in the corner at the top left.
struct CropArgument: ExpressibleByArgument {
    let part: PixelRect
    init?(argument: String) {
        let words = argument.split(separator: "+", omittingEmptySubsequences: false), size = words[0].split(separator: "x")
        let numbers = (size + words.dropFirst()).map { UInt16($0).map(Int.init) }
        guard size.count == 2, words.count == 1 || words.count == 3, let width = numbers[0], let height = numbers[1], width > 0, height > 0 else {
            return nil
        }
        guard words.count == 3 else {
            part = PixelRect(PixelSize(width: width, height: height))
            return
        }
        guard let x = numbers[2], let y = numbers[3] else { return nil }
        part = PixelRect(x: x, y: y, width: width, height: height)
    }
}
