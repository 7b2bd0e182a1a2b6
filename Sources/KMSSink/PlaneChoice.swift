package import DisplaySink
package import Media

/// What a plane of the display hardware takes.
package struct PlaneOffer: Sendable, Hashable {
    package enum Kind: UInt64, Sendable, Hashable { case overlay = 0, primary = 1, cursor = 2 }

    package var id: UInt32
    package var kind: Kind
    /// Modifiers by format code; none: the driver has no list, and linear memory is meant.
    package var formats: [UInt32: Set<UInt64>]
    /// Where it lies above and below others, and whether that can be chosen; nil when nothing is said.
    package var zpos: ClosedRange<UInt64>?
    /// Bits of `DRM_MODE_ROTATE_*` and `DRM_MODE_REFLECT_*`.
    package var rotations: UInt64
    /// Names of `COLOR_ENCODING`; nil where the plane cannot be told.
    package var encodings: Set<String>?
    /// Names of `COLOR_RANGE`; nil where the plane cannot be told.
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

/// What a film wants of a plane.
package struct PlaneWish: Sendable, Hashable {
    /// nil: the kernel has no name for such pictures.
    package var format: FourCC?
    package var pixelFormat: PixelFormat
    package var modifier: FormatModifier
    /// The memory is a DMA-BUF.
    package var isDMABuf: Bool
    package var buffer: PixelSize
    package var visible: PixelRect
    /// The colours without gaps.
    package var attributes: PictureAttributes
    /// What the film is fitted to: the monitor, or the wall that it is a part of.
    package var screen: PixelSize
    /// What the monitor shows of `screen`; nil: all.
    package var part: PixelRect?
    package var gravity: Gravity

    package init(
        format: FourCC?, pixelFormat: PixelFormat, modifier: FormatModifier = .linear, isDMABuf: Bool = true, buffer: PixelSize,
        visible: PixelRect, attributes: PictureAttributes, screen: PixelSize, part: PixelRect? = nil, gravity: Gravity = .aspect
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
        self.gravity = gravity
    }
}

/// Finds the best way to show a film that the hardware agrees to, one refused wish after the other.
///
///     film's memory on a plane, fitted to the screen     primary, then overlays over black, lowest first
///     … pixel for pixel, with a border                   where nothing scales; on no part of a wall, whose other parts might scale
///     a copy in RGB, the size of the screen              what every device shows
///
/// Only a TEST_ONLY commit knows what a device can do (bandwidth, scalers, which planes at once): ask with `current`, and on a refusal
/// call `refuse`.
///
/// Thread-safety: a value; it asks nobody.
package struct PlaneChoice: Sendable, Hashable {
    package struct Direct: Sendable, Hashable {
        package var plane: UInt32
        package var kind: PlaneOffer.Kind
        package var placement: PlanePlacement
        package var rotation: UInt64
        /// nil: not to be set.
        package var encoding, range: String?
        package var zpos: UInt64?
        package var isScaled: Bool
        /// Black is to lie below: on the primary plane, which is not the film's.
        package var needsBlack: Bool { kind != .primary }
    }

    package enum Way: Sendable, Hashable {
        case direct(Direct)
        case converted
        /// The monitor lies beside the film.
        case nothing
    }

    private let isBeside: Bool
    private var remaining: [Direct]
    /// Why nothing better is shown: what planes lack, and what was refused.
    package private(set) var reasons: [String]

    package init(_ wish: PlaneWish, _ offers: [PlaneOffer]) {
        remaining = []
        reasons = []
        let whole = PlanePlacement(
            buffer: wish.buffer, visible: wish.visible, attributes: wish.attributes, screen: wish.screen, gravity: wish.gravity)
        let seen = if let part = wish.part { whole.part(part, wish.attributes.orientation) } else { PlanePlacement?.some(whole) }
        isBeside = seen == nil
        guard let placement = seen else { return }
        guard let format = wish.format else {
            reasons.append("the kernel has no name for \(wish.pixelFormat.rawValue)")
            return
        }
        guard wish.isDMABuf else {
            reasons.append("the pictures lie in memory that a display device cannot read")
            return
        }
        let named = offers.filter { $0.kind != .cursor && $0.takes(format.rawValue, wish.modifier.rawValue) }
        guard !named.isEmpty else {
            let other = offers.contains { $0.formats[format.rawValue] != nil }
            reasons.append("no plane takes \(format)" + (other ? " with modifier \(wish.modifier)" : ""))
            return
        }
        let base = offers.first { $0.kind == .primary }?.zpos?.lowerBound ?? 0
        var fitted: [Direct] = [], bordered: [Direct] = []
        for offer in named.sorted(by: { Self.rank($0) < Self.rank($1) }) {
            if offer.kind == .overlay, let zpos = offer.zpos, zpos.upperBound < base { continue }
            let colors: (encoding: String?, range: String?)
            switch Self.colors(wish, offer) {
            case .success(let found): colors = found
            case .failure(let lack):
                note(lack.reason)
                continue
            }
            let rotation = wish.attributes.orientation.kmsRotation
            guard rotation & ~offer.rotations == 0 else {
                note(
                    "no plane turns pictures by \(wish.attributes.orientation.rotation.rawValue)°"
                        + (wish.attributes.orientation.isMirrored ? " and mirrors them" : ""))
                continue
            }
            let above = offer.zpos.flatMap { range in
                offer.kind == .overlay && range.lowerBound < range.upperBound ? min(max(range.lowerBound, base + 1), range.upperBound) : nil
            }
            let isScaled = !placement.isUnscaled(wish.attributes.orientation)
            let direct = Direct(
                plane: offer.id, kind: offer.kind, placement: placement, rotation: rotation, encoding: colors.encoding, range: colors.range,
                zpos: above, isScaled: isScaled)
            fitted.append(direct)
            guard isScaled, wish.part == nil, let placement = PlanePlacement(unscaled: wish.visible, attributes: wish.attributes, screen: wish.screen)
            else { continue }
            var small = direct
            small.placement = placement
            small.isScaled = false
            bordered.append(small)
        }
        remaining = fitted + bordered
    }

    /// What to try now.
    package var current: Way { isBeside ? .nothing : remaining.first.map(Way.direct) ?? .converted }

    /// The device refused `current`, for this reason.
    package mutating func refuse(_ reason: String) {
        guard !remaining.isEmpty else { return }
        let refused = remaining.removeFirst()
        note(
            "the device refuses it \(refused.isScaled ? "scaled " : "")on its \(refused.kind == .primary ? "primary" : "overlay") plane \(refused.plane) (\(reason))"
        )
    }

    private mutating func note(_ reason: String) { if !reasons.contains(reason) { reasons.append(reason) } }

    /// The primary plane first: it is always there, and leaves the overlays to others. Then from the lowest.
    private static func rank(_ offer: PlaneOffer) -> (Int, UInt64, UInt32) { (offer.kind == .primary ? 0 : 1, offer.zpos?.lowerBound ?? 0, offer.id) }

    private struct Lack: Error { var reason: String }

    private static func colors(_ wish: PlaneWish, _ offer: PlaneOffer) -> Result<(encoding: String?, range: String?), Lack> {
        guard wish.pixelFormat.description.model == .yuv else { return .success((nil, nil)) }
        let color = wish.attributes.color
        let encoding: String
        switch color.matrix {
        case 1, 7: encoding = "ITU-R BT.709 YCbCr"
        case 4, 5, 6: encoding = "ITU-R BT.601 YCbCr"
        case 9: encoding = "ITU-R BT.2020 YCbCr"
        case let other: return .failure(Lack(reason: "no plane knows the film's color matrix \(other)"))
        }
        let range = color.range == .full ? "YCbCr full range" : "YCbCr limited range"
        if let known = offer.encodings, !known.contains(encoding) {
            return .failure(Lack(reason: "no plane knows \(encoding)"))
        }
        if let known = offer.ranges {
            guard known.contains(range) else { return .failure(Lack(reason: "no plane knows \(range)")) }
        } else if color.range == .full {
            return .failure(Lack(reason: "the planes take YCbCr for limited range and the film has full range"))
        }
        return .success((offer.encodings == nil ? nil : encoding, offer.ranges == nil ? nil : range))
    }
}
