package import Media

/// Computes where a frame appears in a window or on a screen, and which part of it is shown.
///
/// A pure value. "Upright" coordinates are in buffer pixels, after the frame's rotation and mirroring.
package struct FrameGeometry: Sendable, Hashable {
    /// A rectangle with fractional coordinates.
    package struct Rect: Sendable, Hashable {
        package var x, y, width, height: Double
        package init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
        package init(_ rect: PixelRect) {
            self.init(x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
        }
    }

    /// The part of the upright buffer that is shown.
    package var source: Rect
    /// Its place in the window, in the window's units.
    package var destination: PixelRect

    /// - Parameters:
    ///   - buffer: The size of the buffer in memory.
    ///   - visible: The part of the buffer that is to be seen, as `Framing.applied` says, like the attributes.
    ///   - window: The window's size in its units.
    package init(buffer: PixelSize, visible: PixelRect, attributes: FrameAttributes, window: PixelSize, framing: Framing) {
        let upright = Self.turned(visible, in: buffer, attributes.orientation)
        source = Rect(upright)
        destination = PixelRect(window)
        let natural = attributes.displaySize(of: visible.size)
        guard natural.width > 0, natural.height > 0, window.width > 0, window.height > 0 else { return }
        // Above 1: the frame is wider than the window.
        let excess = Double(natural.width) * Double(window.height) / (Double(natural.height) * Double(window.width))
        let (across, down) = framing.extents(excess: excess)
        across.place(&source.x, &source.width, &destination.x, &destination.width)
        down.place(&source.y, &source.height, &destination.y, &destination.height)
    }

    /// The rectangle `rect` of a buffer, in upright coordinates.
    package static func turned(_ rect: PixelRect, in buffer: PixelSize, _ orientation: FrameOrientation) -> PixelRect {
        let turned = turned(Rect(rect), in: buffer, orientation)
        // Whole numbers stay whole.
        return PixelRect(x: Int(turned.x), y: Int(turned.y), width: Int(turned.width), height: Int(turned.height))
    }

    /// The same for a part of a pixel, or a point, which has no size.
    package static func turned(_ rect: Rect, in buffer: PixelSize, _ orientation: FrameOrientation) -> Rect {
        let width = Double(buffer.width), height = Double(buffer.height)
        let right = width - rect.x - rect.width, below = height - rect.y - rect.height
        var turned: Rect
        switch orientation.rotation {
        case .none: turned = rect
        case .clockwise90: turned = Rect(x: below, y: rect.x, width: rect.height, height: rect.width)
        case .clockwise180: turned = Rect(x: right, y: below, width: rect.width, height: rect.height)
        case .clockwise270: turned = Rect(x: rect.y, y: right, width: rect.height, height: rect.width)
        }
        if orientation.isMirrored {
            turned.x = (orientation.isSideways ? height : width) - turned.x - turned.width
        }
        return turned
    }

    /// The opposite of `turned`: where a part of the upright buffer lies in memory.
    package static func lying(_ rect: Rect, in buffer: PixelSize, _ orientation: FrameOrientation) -> Rect {
        let width = Double(buffer.width), height = Double(buffer.height)
        var rect = rect
        if orientation.isMirrored { rect.x = (orientation.isSideways ? height : width) - rect.x - rect.width }
        let (x, y) = (rect.x, rect.y)
        switch orientation.rotation {
        case .none: break
        case .clockwise90: rect = Rect(x: y, y: height - x - rect.width, width: rect.height, height: rect.width)
        case .clockwise180: (rect.x, rect.y) = (width - x - rect.width, height - y - rect.height)
        case .clockwise270: rect = Rect(x: width - y - rect.height, y: x, width: rect.height, height: rect.width)
        }
        return rect
    }

    /// The size of a new window: `natural`, scaled down to fit into `bounds` (nil: no limit).
    package static func windowSize(natural: PixelSize, bounds: PixelSize?) -> PixelSize {
        guard let bounds, bounds.width > 0, bounds.height > 0, natural.width > 0, natural.height > 0 else { return natural }
        let shrink = min(1, Double(bounds.width) / Double(natural.width), Double(bounds.height) / Double(natural.height))
        return PixelSize(width: max(1, Int(Double(natural.width) * shrink)), height: max(1, Int(Double(natural.height) * shrink)))
    }

    /// The largest size with the aspect ratio of `shape` within `limit`, for a window that the user resizes.
    package static func windowSize(shape: PixelSize, within limit: PixelSize) -> PixelSize {
        guard shape.width > 0, shape.height > 0, limit.width > 0, limit.height > 0 else { return limit }
        let height = (limit.width * shape.height + shape.width / 2) / shape.width
        if height <= limit.height { return PixelSize(width: limit.width, height: max(1, height)) }
        return PixelSize(width: max(1, (limit.height * shape.width + shape.height / 2) / shape.height), height: limit.height)
    }
}

/// How long a frame is shown in one direction, as a multiple of the window's length; a fraction, so that simple cases are exact.
struct Extent {
    var over = 1.0, under = 1.0
    /// How far from the middle it lies, as a share of that length.
    var pan = 0.0

    init(over: Double = 1, under: Double = 1) {
        self.over = over
        self.under = under
    }

    /// Between two, with `share` of the other one.
    func blended(_ other: Extent, _ share: Double) -> Extent {
        if share <= 0 { return self }
        if share >= 1 { return other }
        return Extent(over: over / under * (1 - share) + other.over / other.under * share)
    }

    /// Cuts off what lies outside of the window.
    ///
    /// - Parameters:
    ///   - start, length: of the source; all of the frame when called.
    ///   - place, extent: of the destination; all of the window when called.
    func place(_ start: inout Double, _ length: inout Double, _ place: inout Int, _ extent: inout Int) {
        let window = Double(extent), shown = window * over / under
        if pan == 0, over >= under {
            let whole = length
            length *= under / over
            start += (whole - length) / 2
        } else if pan == 0 {
            let whole = extent
            extent = max(1, Int(shown.rounded()))
            place = (whole - extent) / 2
        } else {
            // A pixel of it is always seen.
            let left = min(max((window - shown) / 2 + pan * shown, 1 - shown), window - 1)
            let from = max(left, 0), to = min(left + shown, window)
            place = min(Int(from.rounded()), extent - 1)
            extent = max(1, Int(to.rounded()) - place)
            start += (from - left) / shown * length
            length *= (to - from) / shown
        }
    }
}
