package import DisplaySink
package import Media

/// The part of a buffer that a plane reads and where on the screen it appears, in the kernel's units.
///
/// A pure value.
package struct PlanePlacement: Sendable, Hashable {
    /// A part of the buffer in memory, before rotation, in 1/65536 pixel (`SRC_X` …).
    package struct Source: Sendable, Hashable {
        package var x, y, width, height: UInt32
        package init(x: UInt32, y: UInt32, width: UInt32, height: UInt32) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
        /// All of a buffer.
        package init(_ size: PixelSize) { self.init(PixelRect(size)) }
        /// Whole pixels of a buffer.
        package init(_ part: PixelRect) {
            self.init(x: UInt32(part.x) << 16, y: UInt32(part.y) << 16, width: UInt32(part.width) << 16, height: UInt32(part.height) << 16)
        }
    }

    /// A part of the screen in pixels (`CRTC_X` …).
    package typealias Destination = PixelRect

    package var source: Source
    package var destination: Destination

    package init(source: Source, destination: Destination) {
        self.source = source
        self.destination = destination
    }

    /// Fits a frame to a screen, scaled.
    package init(buffer: PixelSize, visible: PixelRect, attributes: FrameAttributes, screen: PixelSize, framing: Framing) {
        let geometry = FrameGeometry(buffer: buffer, visible: visible, attributes: attributes, window: screen, framing: framing)
        destination = geometry.destination
        // The plane crops before it rotates.
        let cut = FrameGeometry.lying(geometry.source, in: buffer, attributes.orientation)
        // Edges are rounded, not lengths: the kernel refuses what ends behind the buffer's end.
        let left = Self.fixed(cut.x), top = Self.fixed(cut.y)
        source = Source(x: left, y: top, width: max(1, Self.fixed(cut.x + cut.width) - left), height: max(1, Self.fixed(cut.y + cut.height) - top))
    }

    /// Centers a frame on a screen without scaling; nil if that would distort or crop it.
    package init?(unscaled visible: PixelRect, attributes: FrameAttributes, screen: PixelSize) {
        let shown = attributes.orientation.isSideways ? PixelSize(width: visible.height, height: visible.width) : visible.size
        guard attributes.displaySize(of: visible.size) == shown, shown.width <= screen.width, shown.height <= screen.height else { return nil }
        source = Source(
            x: UInt32(visible.x) << 16, y: UInt32(visible.y) << 16, width: UInt32(visible.width) << 16, height: UInt32(visible.height) << 16)
        destination = PixelRect(
            x: (screen.width - shown.width) / 2, y: (screen.height - shown.height) / 2, width: shown.width, height: shown.height)
    }

    /// Whether a frame with this orientation needs no scaler.
    package func isUnscaled(_ orientation: FrameOrientation) -> Bool {
        let size = orientation.isSideways ? (source.height, source.width) : (source.width, source.height)
        return size == (UInt32(destination.width) << 16, UInt32(destination.height) << 16)
    }

    private static func fixed(_ value: Double) -> UInt32 { UInt32(max(0, min(value, 65535) * 65536).rounded()) }
}

extension FrameOrientation {
    /// The bits of the kernel's `rotation` property: `DRM_MODE_ROTATE_*`, which rotate counter-clockwise, and `DRM_MODE_REFLECT_X`, which is applied
    /// before the rotation where ours is applied after it.
    package var kmsRotation: UInt64 {
        var bits: UInt64
        switch rotation {
        case .none: bits = 1
        case .clockwise90: bits = 8
        case .clockwise180: bits = 4
        case .clockwise270: bits = 2
        }
        // A left-right mirror after a quarter turn is an up-down mirror before it.
        if isMirrored { bits |= isSideways ? 32 : 16 }
        return bits
    }
}
