public import DisplaySink
internal import JSON
public import Media

/// One property of how films fit the display, set.
public enum FramingChange: Sendable, Hashable {
    /// Fills this share of the borders, shows the film larger by this power of two, or moves it by this share of its size.
    case panscan(Double), zoom(Double), panX(Double), panY(Double)
    /// Turns the film clockwise, or exchanges left and right.
    case rotation(FrameOrientation.Rotation), mirrored(Bool)
    /// Gives the film another aspect ratio; unknown: its own. Or distorts it to the window's.
    case aspectRatio(Ratio), keepsAspect(Bool)

    /// Carries it out.
    public func apply(to framing: inout Framing) {
        switch self {
        case .panscan(let share):
            framing.panscan = share
            if framing.gravity == .fill { framing.gravity = .aspect }
        case .zoom(let power): framing.zoom = power
        case .panX(let share): framing.panX = share
        case .panY(let share): framing.panY = share
        case .rotation(let rotation): framing.orientation.rotation = rotation
        case .mirrored(let isMirrored): framing.orientation.isMirrored = isMirrored
        case .aspectRatio(let ratio): framing.aspectRatio = ratio
        case .keepsAspect(let keepsAspect): framing.gravity = keepsAspect ? .aspect : .stretch
        }
    }

    /// The properties' names, as in mpv where it has them.
    static let names: Set<String> = [
        "panscan", "video-zoom", "video-pan-x", "video-pan-y", "video-rotate", "video-mirror", "video-aspect-override", "keepaspect",
    ]

    /// The numbers that a property may have; nil: it has none, or any.
    static func range(of name: String) -> ClosedRange<Double>? {
        switch name {
        case "panscan": Framing.panscanRange
        case "video-zoom": Framing.zoomRange
        case "video-pan-x", "video-pan-y": Framing.panRange
        default: nil
        }
    }

    /// The value of a property.
    static func value(of name: String, _ framing: Framing) -> JSONValue? {
        switch name {
        case "panscan": .number(framing.gravity == .fill ? 1 : framing.panscan)
        case "video-zoom": .number(framing.zoom)
        case "video-pan-x": .number(framing.panX)
        case "video-pan-y": .number(framing.panY)
        case "video-rotate": .integer(Int64(framing.orientation.rotation.rawValue))
        case "video-mirror": .bool(framing.orientation.isMirrored)
        // mpv's number for none.
        case "video-aspect-override": .number(framing.aspectRatio.isKnown ? framing.aspectRatio.doubleValue : -1)
        case "keepaspect": .bool(framing.gravity != .stretch)
        default: nil
        }
    }

    /// A ratio as it is written: `16:9`, `16/9` or `1.78`; `no`, -1 and 0 are none, which is unknown. nil: it makes no sense.
    public static func ratio(_ text: String) -> Ratio? {
        if text == "no" { return .unknown }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }.map { Double($0) }
        let ratio: Double
        switch parts.count {
        case 1: ratio = parts[0] ?? .nan
        case 2: ratio = (parts[0] ?? .nan) / (parts[1] ?? .nan)
        default: return nil
        }
        if ratio == 0 || ratio == -1 { return .unknown }
        guard Framing.aspectRange.contains(ratio) else { return nil }
        return Ratio(Int32((ratio * 1_000_000).rounded()), 1_000_000)
    }

    /// What the viewer is shown of it, in mpv's words.
    func reply(_ framing: Framing) -> String {
        func fixed(_ number: Double) -> String { RemoteProperties.fixed(number, decimals: 2) }
        return switch self {
        case .panscan: "Panscan: " + fixed(framing.panscan)
        case .zoom: "Zoom: " + fixed(framing.zoom)
        case .panX: "Pan x: " + fixed(framing.panX)
        case .panY: "Pan y: " + fixed(framing.panY)
        case .rotation: "Rotation: \(framing.orientation.rotation.rawValue)°"
        case .mirrored: "Mirror: " + (framing.orientation.isMirrored ? "yes" : "no")
        case .aspectRatio: "Aspect ratio: " + (framing.aspectRatio.isKnown ? fixed(framing.aspectRatio.doubleValue) : "original")
        case .keepsAspect: "Keep aspect: " + (framing.gravity != .stretch ? "yes" : "no")
        }
    }
}
