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
    }

    /// The part of the upright buffer that is shown.
    package var source: Rect
    /// Its place in the window, in the window's units.
    package var destination: PixelRect

    /// - Parameters:
    ///   - buffer: The size of the buffer in memory.
    ///   - visible: The visible part of the buffer.
    ///   - window: The window's size in its units.
    package init(buffer: PixelSize, visible: PixelRect, attributes: FrameAttributes, window: PixelSize, gravity: Gravity) {
        let upright = Self.turned(visible, in: buffer, attributes.orientation)
        source = Rect(x: Double(upright.x), y: Double(upright.y), width: Double(upright.width), height: Double(upright.height))
        destination = PixelRect(window)
        let natural = attributes.displaySize(of: visible.size)
        guard natural.width > 0, natural.height > 0, window.width > 0, window.height > 0 else { return }
        // Above 1: the frame is wider than the window.
        let excess = Double(natural.width) * Double(window.height) / (Double(natural.height) * Double(window.width))
        switch gravity {
        case .stretch: break
        case .aspect:
            if excess > 1 {
                destination.height = max(1, Int((Double(window.height) / excess).rounded()))
            } else {
                destination.width = max(1, Int((Double(window.width) * excess).rounded()))
            }
            destination.x = (window.width - destination.width) / 2
            destination.y = (window.height - destination.height) / 2
        case .fill:
            if excess > 1 {
                source.width /= excess
                source.x += (Double(upright.width) - source.width) / 2
            } else {
                source.height *= excess
                source.y += (Double(upright.height) - source.height) / 2
            }
        }
    }

    /// The rectangle `rect` of a buffer, in upright coordinates.
    package static func turned(_ rect: PixelRect, in buffer: PixelSize, _ orientation: FrameOrientation) -> PixelRect {
        let right = buffer.width - rect.x - rect.width, below = buffer.height - rect.y - rect.height
        var turned: PixelRect
        switch orientation.rotation {
        case .none: turned = rect
        case .clockwise90: turned = PixelRect(x: below, y: rect.x, width: rect.height, height: rect.width)
        case .clockwise180: turned = PixelRect(x: right, y: below, width: rect.width, height: rect.height)
        case .clockwise270: turned = PixelRect(x: rect.y, y: right, width: rect.height, height: rect.width)
        }
        if orientation.isMirrored {
            turned.x = (orientation.isSideways ? buffer.height : buffer.width) - turned.x - turned.width
        }
        return turned
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
