internal import Demuxing
internal import Media
internal import PixelConversion
internal import SurfacePool

/// The size and the attributes of exported frames.
struct ExportShape: Sendable {
    var size: PixelSize
    var attributes: FrameAttributes
    var frameRate: Ratio
    /// Frames are turned, because the container cannot say that players must.
    var turns: Bool

    /// - Parameter wanted: As they are stored, after turning; a side of 0 follows from the other.
    init(_ track: AssetTrack, _ frame: SharedFrame, _ wanted: PixelSize?, turns mayTurn: Bool) {
        var attributes = frame.copy().attributes, rate = Ratio.unknown
        if case .video(let format) = track.format {
            if attributes.orientation == .upright { attributes.orientation = format.attributes.orientation }
            if !attributes.pixelAspect.isKnown { attributes.pixelAspect = format.attributes.pixelAspect }
            attributes.hdr = attributes.hdr ?? format.attributes.hdr
            rate = format.frameRate
        }
        frameRate = rate
        var own = frame.visibleSize
        turns = mayTurn && attributes.orientation != .upright && PixelRotationSession.canRotate(frame.pixelFormat)
        if turns {
            if attributes.orientation.isSideways {
                own = PixelSize(width: own.height, height: own.width)
                if attributes.pixelAspect.isKnown {
                    attributes.pixelAspect = Ratio(attributes.pixelAspect.denominator, attributes.pixelAspect.numerator)
                }
            }
            attributes.orientation = .upright
        }
        size = own
        if let wanted, wanted != own {
            func follow(_ side: Int, _ a: Int, _ b: Int) -> Int { Int((Double(side) * Double(a) / Double(max(b, 1))).rounded()) }
            size.width = wanted.width > 0 ? wanted.width : follow(wanted.height, own.width, own.height)
            size.height = wanted.height > 0 ? wanted.height : follow(wanted.width, own.height, own.width)
        }
        // Most encoders need whole chroma samples.
        let facts = frame.pixelFormat.description
        size.width = max(size.width >> facts.chromaShiftX, 1) << facts.chromaShiftX
        size.height = max(size.height >> facts.chromaShiftY, 1) << facts.chromaShiftY
        if wanted != nil, wanted!.width > 0, wanted!.height > 0 {
            attributes.pixelAspect = Self.aspect(attributes.pixelAspect, own, size)
        }
        self.attributes = attributes
    }

    /// The film keeps its shape when it is made narrower or lower.
    private static func aspect(_ aspect: Ratio, _ old: PixelSize, _ new: PixelSize) -> Ratio {
        let from = aspect.isKnown ? aspect : Ratio(1, 1)
        var (a, b) = (Int64(from.numerator) * Int64(old.width * new.height), Int64(from.denominator) * Int64(new.width * old.height))
        var (x, y) = (a, b)
        while y != 0 { (x, y) = (y, x % y) }
        (a, b) = (a / max(x, 1), b / max(x, 1))
        return a <= Int32.max && b <= Int32.max ? Ratio(Int32(a), Int32(b)) : aspect
    }
}
