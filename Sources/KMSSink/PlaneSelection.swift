package import DisplaySink
package import Media

/// What a plane of the display hardware can show.
package struct PlaneCapabilities: Sendable, Hashable {
    package enum Kind: UInt64, Sendable, Hashable { case overlay = 0, primary = 1, cursor = 2 }

    package var id: UInt32
    package var kind: Kind
    /// Modifiers by format code. An empty set means that the driver lists none, and only linear memory is supported.
    package var formats: [UInt32: Set<UInt64>]
    /// The plane's `zpos` values; more than one can be chosen from. Nil when the plane has no `zpos`.
    package var zpos: ClosedRange<UInt64>?
    /// Bits of `DRM_MODE_ROTATE_*` and `DRM_MODE_REFLECT_*`.
    package var rotations: UInt64
    /// Names of `COLOR_ENCODING`; nil when the plane has no such property.
    package var encodings: Set<String>?
    /// Names of `COLOR_RANGE`; nil when the plane has no such property.
    package var ranges: Set<String>?

    package init(
        id: UInt32, kind: Kind, formats: [UInt32: Set<UInt64>], zpos: ClosedRange<UInt64>? = nil, rotations: UInt64 = 1,
        encodings: Set<String>? = nil, ranges: Set<String>? = nil
    ) {
        self.id = id
        self.kind = kind
        self.formats = formats
        self.zpos = zpos
        self.rotations = rotations
        self.encodings = encodings
        self.ranges = ranges
    }

    func takes(_ code: UInt32, _ modifier: UInt64) -> Bool {
        guard let modifiers = formats[code] else { return false }
        return modifiers.isEmpty ? modifier == FormatModifier.linear.rawValue : modifiers.contains(modifier)
    }
}

/// What a frame requires of a plane.
package struct LayerRequirements: Sendable, Hashable {
    /// The kernel's code; nil when it has none for the pixel format.
    package var format: FourCC?
    package var pixelFormat: PixelFormat
    package var modifier: FormatModifier
    /// The memory is a DMA-BUF.
    package var isDMABuf: Bool
    package var buffer: PixelSize
    package var visible: PixelRect
    /// The attributes, with every color property resolved.
    package var attributes: FrameAttributes
    /// The area that the film is fitted to: the monitor, or the whole wall.
    package var screen: PixelSize
    /// The part of `screen` that the monitor shows; nil: all.
    package var part: PixelRect?
    package var framing: Framing
    /// Why the light of the film must be mapped for the monitor; nil: it need not be.
    package var lightObstacle: String?

    package init(
        format: FourCC?, pixelFormat: PixelFormat, modifier: FormatModifier = .linear, isDMABuf: Bool = true, buffer: PixelSize,
        visible: PixelRect, attributes: FrameAttributes, screen: PixelSize, part: PixelRect? = nil, framing: Framing = Framing(),
        lightObstacle: String? = nil
    ) {
        self.format = format
        self.pixelFormat = pixelFormat
        self.modifier = modifier
        self.isDMABuf = isDMABuf
        self.buffer = buffer
        self.visible = visible
        self.attributes = attributes
        self.screen = screen
        self.part = part
        self.framing = framing
        self.lightObstacle = lightObstacle
    }
}

/// Finds the best way to show a film that the hardware accepts, by trying one candidate after another.
///
///     frame's memory on a plane, fitted to the screen    primary, then overlays over black, lowest first
///     … unscaled, centered with a border                 if nothing scales; never on a part of a wall
///     a copy in RGB of the screen's size                 every device can show this
///
/// Only a TEST_ONLY commit shows what a device can do (bandwidth, scalers, planes that work together). Test `current`; if the device refuses it,
/// call `refuse` and test again.
///
/// Thread-safety: a value.
package struct PlaneSelection: Sendable, Hashable {
    package struct Candidate: Sendable, Hashable {
        package var plane: UInt32
        package var kind: PlaneCapabilities.Kind
        package var placement: PlanePlacement
        package var rotation: UInt64
        /// Nil: the property is not set.
        package var encoding, range: String?
        package var zpos: UInt64?
        package var isScaled: Bool
        /// The film is on another plane, so the primary plane must show black.
        package var needsBlack: Bool { kind != .primary }
    }

    package enum Method: Sendable, Hashable {
        case direct(Candidate)
        case converted
        /// The monitor shows no part of the film.
        case nothing
    }

    private let isHidden: Bool
    private var remaining: [Candidate]
    /// Why no better candidate is used: what the planes lack, and what the device refused.
    package private(set) var reasons: [String]

    package init(_ layer: LayerRequirements, _ planes: [PlaneCapabilities]) {
        remaining = []
        reasons = []
        let whole = PlanePlacement(
            buffer: layer.buffer, visible: layer.visible, attributes: layer.attributes, screen: layer.screen, framing: layer.framing)
        let seen = if let part = layer.part { whole.part(part, layer.attributes.orientation) } else { PlanePlacement?.some(whole) }
        isHidden = seen == nil
        guard let placement = seen else { return }
        if let obstacle = layer.lightObstacle {
            reasons.append(obstacle)
            return
        }
        guard let format = layer.format else {
            reasons.append("the kernel has no format code for \(layer.pixelFormat.rawValue)")
            return
        }
        guard layer.isDMABuf else {
            reasons.append("the frames are in memory that a display device cannot read")
            return
        }
        let matching = planes.filter { $0.kind != .cursor && $0.takes(format.rawValue, layer.modifier.rawValue) }
        guard !matching.isEmpty else {
            let other = planes.contains { $0.formats[format.rawValue] != nil }
            reasons.append("no plane takes \(format)" + (other ? " with modifier \(layer.modifier)" : ""))
            return
        }
        let base = planes.first { $0.kind == .primary }?.zpos?.lowerBound ?? 0
        var fitted: [Candidate] = [], bordered: [Candidate] = []
        for plane in matching.sorted(by: { Self.rank($0) < Self.rank($1) }) {
            if plane.kind == .overlay, let zpos = plane.zpos, zpos.upperBound < base { continue }
            let colors: (encoding: String?, range: String?)
            switch Self.colors(layer, plane) {
            case .success(let found): colors = found
            case .failure(let lack):
                note(lack.reason)
                continue
            }
            let rotation = layer.attributes.orientation.kmsRotation
            guard rotation & ~plane.rotations == 0 else {
                note(
                    "no plane rotates by \(layer.attributes.orientation.rotation.rawValue)°"
                        + (layer.attributes.orientation.isMirrored ? " and mirrors" : ""))
                continue
            }
            let above = plane.zpos.flatMap { range in
                plane.kind == .overlay && range.lowerBound < range.upperBound ? min(max(range.lowerBound, base + 1), range.upperBound) : nil
            }
            let isScaled = !placement.isUnscaled(layer.attributes.orientation)
            let direct = Candidate(
                plane: plane.id, kind: plane.kind, placement: placement, rotation: rotation, encoding: colors.encoding, range: colors.range,
                zpos: above, isScaled: isScaled)
            fitted.append(direct)
            guard isScaled, layer.part == nil, layer.framing.isPlain,
                let placement = PlanePlacement(unscaled: layer.visible, attributes: layer.attributes, screen: layer.screen)
            else { continue }
            var small = direct
            small.placement = placement
            small.isScaled = false
            bordered.append(small)
        }
        remaining = fitted + bordered
    }

    /// What to try next.
    package var current: Method { isHidden ? .nothing : remaining.first.map(Method.direct) ?? .converted }

    /// Removes `current`, which the device refused for this reason.
    package mutating func refuse(_ reason: String) {
        guard !remaining.isEmpty else { return }
        let refused = remaining.removeFirst()
        let kind = refused.kind == .primary ? "primary" : "overlay"
        note("the device refuses it \(refused.isScaled ? "scaled " : "")on its \(kind) plane \(refused.plane) (\(reason))")
    }

    private mutating func note(_ reason: String) { if !reasons.contains(reason) { reasons.append(reason) } }

    /// The primary plane first, because it always exists and leaves the overlays free. Then the overlays from the lowest.
    private static func rank(_ plane: PlaneCapabilities) -> (Int, UInt64, UInt32) {
        (plane.kind == .primary ? 0 : 1, plane.zpos?.lowerBound ?? 0, plane.id)
    }

    private struct Lack: Error { var reason: String }

    private static func colors(_ layer: LayerRequirements, _ plane: PlaneCapabilities) -> Result<(encoding: String?, range: String?), Lack> {
        guard layer.pixelFormat.description.model == .yuv else { return .success((nil, nil)) }
        let color = layer.attributes.color
        let encoding: String
        switch color.matrix {
        case 1, 7: encoding = "ITU-R BT.709 YCbCr"
        case 4, 5, 6: encoding = "ITU-R BT.601 YCbCr"
        case 9: encoding = "ITU-R BT.2020 YCbCr"
        case let other: return .failure(Lack(reason: "no plane supports the film's color matrix \(other)"))
        }
        let range = color.range == .full ? "YCbCr full range" : "YCbCr limited range"
        if let known = plane.encodings, !known.contains(encoding) {
            return .failure(Lack(reason: "no plane supports \(encoding)"))
        }
        if let known = plane.ranges {
            guard known.contains(range) else { return .failure(Lack(reason: "no plane supports \(range)")) }
        } else if color.range == .full {
            return .failure(Lack(reason: "the planes treat YCbCr as limited range, but the film has full range"))
        }
        return .success((plane.encodings == nil ? nil : encoding, plane.ranges == nil ? nil : range))
    }
}
