internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// How one monitor shows a film, and for which film, monitor and place in the layout that was chosen.
struct ScanoutPlan: CustomStringConvertible {
    /// What the plan depends on.
    struct Kind: Hashable {
        var layout: SurfaceLayout
        var memory: SurfaceMemory.Kind
        var isDMABuf: Bool
        var visible: PixelRect
        /// With every color property resolved.
        var attributes: FrameAttributes
        var mode: DisplayMode
        var place: OutputLayout.Place
        /// Of the monitor.
        var colorSupport: EDID.ColorSupport
        /// How what is left by `Framing.applied` fits the place.
        var framing: Framing

        init(_ frame: borrowing VideoFrame, on output: KMSOutput, _ place: OutputLayout.Place, _ framing: Framing) {
            let surface = frame.surface
            layout = surface.layout
            memory = surface.memoryKind
            isDMABuf = surface.isDMABuf
            (visible, attributes) = framing.applied(to: frame.visible, frame.attributes)
            attributes.color = attributes.color.resolved(for: surface.layout.format, size: frame.visible.size)
            mode = output.mode
            self.place = place
            colorSupport = output.connector.colorSupport
            self.framing = framing
        }

        /// Whether the monitor shows the whole film, not a part of it.
        var isWhole: Bool { place.part == PixelRect(place.canvas) }
    }

    let kind: Kind
    /// Whether the film's light is mapped to standard dynamic range, which no plane does.
    let mapsLight: Bool
    var choice: PlaneSelection

    /// - Parameter lightObstacle: Why the film's light must be mapped for the monitor; nil: it need not be.
    init(_ kind: Kind, _ planes: [PlaneCapabilities], lightObstacle: String?) {
        self.kind = kind
        mapsLight = lightObstacle != nil
        choice = PlaneSelection(
            LayerRequirements(
                format: kind.layout.format.opaqueFourCC, pixelFormat: kind.layout.format, modifier: kind.layout.modifier, isDMABuf: kind.isDMABuf,
                buffer: kind.layout.size, visible: kind.visible, attributes: kind.attributes, screen: kind.place.canvas,
                part: kind.isWhole ? nil : kind.place.part, framing: kind.framing,
                lightObstacle: lightObstacle), planes)
    }

    /// What the monitor shows of the canvas for images over the film.
    var view: OverlayView {
        let film: PixelRect
        if case .direct(let direct) = choice.current, kind.isWhole {
            film = direct.placement.destination
        } else {
            film =
                FrameGeometry(
                    buffer: kind.layout.size, visible: kind.visible, attributes: kind.attributes, window: kind.place.canvas, framing: kind.framing
                ).destination
        }
        return OverlayView(canvas: OverlayCanvas(size: kind.place.canvas, film: film), part: kind.place.part)
    }

    private var reasons: String { choice.reasons.joined(separator: "; ") }

    /// The conversion that is necessary, and why; nil: none.
    var conversion: ConversionReport? {
        guard case .converted = choice.current else { return nil }
        return ConversionReport(from: kind.layout.format.rawValue, to: PixelFormat.bgr0.rawValue, why: reasons)
    }

    /// For `--verbose`.
    var description: String {
        let format = kind.layout.format.rawValue
        switch choice.current {
        case .direct(let direct):
            let place = direct.placement.destination, source = direct.placement.source
            let part = kind.isWhole ? "\(kind.visible.size)" : "\(source.width >> 16)x\(source.height >> 16) of \(kind.visible.size)"
            return "\(format) directly on \(direct.kind == .primary ? "primary" : "overlay") plane \(direct.plane), "
                + "\(part) \(direct.isScaled ? "scaled to" : "as") \(place.size) at \(place.x),\(place.y)" + (reasons.isEmpty ? "" : " (\(reasons))")
        case .converted: return "\(format) converted to \(PixelFormat.bgr0.rawValue), because \(reasons)"
        case .nothing: return "black, because it shows no part of the film"
        }
    }
}
