public import Media

/// Converts points between a camera's frame and the layer that shows it: where on the display something is that a detector has found, and what of the
/// frame a viewer has touched.
///
/// The counterpart of `AVCaptureVideoPreviewLayer`'s conversions. It is computed by what the displays themselves ask, so that it agrees with them
/// under every framing: gravity, crop, zoom, rotation, mirroring, pixel aspect.
///
///     let geometry = PreviewGeometry(frame: format.size, layer: window, framing: framing)
///     let touched = geometry.point(inDevice: place)
///
/// Thread-safety: a value.
public struct PreviewGeometry: Sendable, Hashable {
    /// A place on the frame or on the layer.
    public struct Point: Sendable, Hashable {
        /// To the right.
        public var x: Double
        /// Downwards.
        public var y: Double

        /// Makes a point.
        public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    }

    private let frame: PixelSize
    private let orientation: FrameOrientation
    private let geometry: FrameGeometry

    /// Makes the conversion of one frame size and one layer.
    ///
    /// - Parameters:
    ///   - frame: The size of what is meant to be seen of the camera's frames, in pixels as they are stored; at least 1x1.
    ///   - attributes: What the frames say of their pixel aspect and their orientation.
    ///   - layer: The size of the window or the monitor in its own units, as `DisplaySink.displaySize`; at least 1x1.
    ///   - framing: How the display shows them.
    public init(frame: PixelSize, attributes: FrameAttributes = FrameAttributes(), layer: PixelSize, framing: Framing = Framing()) {
        precondition(frame.width > 0 && frame.height > 0 && layer.width > 0 && layer.height > 0, "frames and layers have a size")
        let (visible, turned) = framing.applied(to: PixelRect(frame), attributes)
        self.frame = frame
        orientation = turned.orientation
        geometry = FrameGeometry(buffer: frame, visible: visible, attributes: turned, window: layer, framing: framing)
    }

    /// The part of the layer on which the frame lies, in the layer's units; borders are around it.
    public var area: PixelRect { geometry.destination }

    /// Where on the layer a point of the frame is shown, in the layer's units from its top left corner. What lies outside of the part that is shown
    /// has a place outside of `area`.
    ///
    /// - Parameter devicePoint: From 0, 0 at the top left of the camera's frame, as it stores it, to 1, 1 at the bottom right.
    public func point(inLayer devicePoint: Point) -> Point {
        let place = FrameGeometry.Rect(
            x: devicePoint.x * Double(frame.width), y: devicePoint.y * Double(frame.height), width: 0, height: 0)
        let upright = FrameGeometry.turned(place, in: frame, orientation), source = geometry.source, area = geometry.destination
        return Point(
            x: Double(area.x) + (upright.x - source.x) * Double(area.width) / source.width,
            y: Double(area.y) + (upright.y - source.y) * Double(area.height) / source.height)
    }

    /// Which point of the frame is shown at a place of the layer: the opposite of `point(inLayer:)`. Outside of the frame it is below 0 or above 1.
    ///
    /// - Parameter layerPoint: In the layer's units from its top left corner.
    public func point(inDevice layerPoint: Point) -> Point {
        let source = geometry.source, area = geometry.destination
        let upright = FrameGeometry.Rect(
            x: source.x + (layerPoint.x - Double(area.x)) * source.width / Double(area.width),
            y: source.y + (layerPoint.y - Double(area.y)) * source.height / Double(area.height), width: 0, height: 0)
        let place = FrameGeometry.lying(upright, in: frame, orientation)
        return Point(x: place.x / Double(frame.width), y: place.y / Double(frame.height))
    }
}
