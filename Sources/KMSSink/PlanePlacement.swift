package import DisplaySink
package import Media

/// Where a plane takes a picture from and where on the screen it puts it, in the kernel's units.
///
/// A pure value.
package struct PlanePlacement: Sendable, Hashable {
    /// A part of the buffer as it lies in memory, before any turning, in 1/65536 of a pixel (`SRC_X` …).
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

    /// A part of the screen in whole pixels (`CRTC_X` …).
    package typealias Destination = PixelRect

    package var source: Source
    package var destination: Destination

    package init(source: Source, destination: Destination) {
        self.source = source
        self.destination = destination
    }

    /// Fits a picture to a screen, scaled.
    package init(buffer: PixelSize, visible: PixelRect, attributes: PictureAttributes, screen: PixelSize, gravity: Gravity) {
        destination = PictureGeometry(buffer: buffer, visible: visible, attributes: attributes, window: screen, gravity: gravity).destination
        // What is cut off is the same when picture and screen are turned together, and the plane crops before it turns.
        let isSideways = attributes.orientation.isSideways
        var lying = attributes
        lying.orientation = .upright
        let cut = PictureGeometry(
            buffer: buffer, visible: visible, attributes: lying,
            window: isSideways ? PixelSize(width: screen.height, height: screen.width) : screen, gravity: gravity
        ).source
        source = Source(x: Self.fixed(cut.x), y: Self.fixed(cut.y), width: Self.fixed(cut.width), height: Self.fixed(cut.height))
    }

    /// Puts a picture in the middle of a screen, pixel for pixel; nil where that would distort it, or lose some of it.
    package init?(unscaled visible: PixelRect, attributes: PictureAttributes, screen: PixelSize) {
        let shown = attributes.orientation.isSideways ? PixelSize(width: visible.height, height: visible.width) : visible.size
        guard attributes.displaySize(of: visible.size) == shown, shown.width <= screen.width, shown.height <= screen.height else { return nil }
        source = Source(
            x: UInt32(visible.x) << 16, y: UInt32(visible.y) << 16, width: UInt32(visible.width) << 16, height: UInt32(visible.height) << 16)
        destination = PixelRect(
            x: (screen.width - shown.width) / 2, y: (screen.height - shown.height) / 2, width: shown.width, height: shown.height)
    }

    /// Whether a picture turned so needs no scaler.
    package func isUnscaled(_ orientation: PictureOrientation) -> Bool {
        let size = orientation.isSideways ? (source.height, source.width) : (source.width, source.height)
        return size == (UInt32(destination.width) << 16, UInt32(destination.height) << 16)
    }

    private static func fixed(_ value: Double) -> UInt32 { UInt32(max(0, min(value, 65535) * 65536).rounded()) }
}

extension PictureOrientation {
    /// The bits of the kernel's `rotation` property (`DRM_MODE_ROTATE_*`, which turn counter-clockwise, and `DRM_MODE_REFLECT_X`, which comes
    /// before the turning where ours comes after it).
    package var kmsRotation: UInt64 {
        var bits: UInt64
        switch rotation {
        case .none: bits = 1
        case .clockwise90: bits = 8
        case .clockwise180: bits = 4
        case .clockwise270: bits = 2
        }
        // Mirrored left-right after a quarter turn is mirrored up-down before it.
        if isMirrored { bits |= isSideways ? 32 : 16 }
        return bits
    }
}
