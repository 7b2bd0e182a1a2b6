/// Where a layer's frame is drawn: it is scaled first, then moved. Distances count in pixels of the render size, from the top left.
///
/// Thread-safety: a value.
public struct LayerTransform: Interpolatable, CustomStringConvertible {
    /// Factors of width and height, above zero.
    public var scaleX, scaleY: Double
    /// Distances of the top left corner, in pixels to the right and down.
    public var x, y: Double

    /// Without arguments the frame stays where and as large as it is.
    public init(scaleX: Double = 1, scaleY: Double = 1, x: Double = 0, y: Double = 0) {
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.x = x
        self.y = y
    }

    /// The frame stays where and as large as it is.
    public static let identity = LayerTransform()

    /// The transform between this one and `other`.
    public func interpolated(to other: LayerTransform, _ fraction: Double) -> LayerTransform {
        LayerTransform(
            scaleX: scaleX.interpolated(to: other.scaleX, fraction), scaleY: scaleY.interpolated(to: other.scaleY, fraction),
            x: x.interpolated(to: other.x, fraction), y: y.interpolated(to: other.y, fraction))
    }

    /// Whether all are numbers, within what any frame needs, and nothing is turned over.
    public var isUsable: Bool {
        [scaleX, scaleY].allSatisfy { $0.isFinite && $0 >= 0 && $0 <= 1000 } && [x, y].allSatisfy { $0.isFinite && abs($0) <= 1e6 }
    }

    /// The numbers, for people.
    public var description: String { "scale \(scaleX) x \(scaleY), move \(x), \(y)" }
}

/// A part of a frame, in fractions of its width and height from the top left: what a layer shows of its frame.
///
/// Thread-safety: a value.
public struct LayerCrop: Interpolatable, CustomStringConvertible {
    /// From 0 to 1 each.
    public var left, top, right, bottom: Double

    /// Without arguments the whole frame.
    public init(left: Double = 0, top: Double = 0, right: Double = 1, bottom: Double = 1) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
    }

    /// The whole frame.
    public static let whole = LayerCrop()

    /// The part between this one and `other`.
    public func interpolated(to other: LayerCrop, _ fraction: Double) -> LayerCrop {
        LayerCrop(
            left: left.interpolated(to: other.left, fraction), top: top.interpolated(to: other.top, fraction),
            right: right.interpolated(to: other.right, fraction), bottom: bottom.interpolated(to: other.bottom, fraction))
    }

    /// Whether it lies in the frame.
    public var isUsable: Bool { left >= 0 && top >= 0 && right <= 1 && bottom <= 1 && left <= right && top <= bottom }

    /// The numbers, for people.
    public var description: String { "from \(left), \(top) to \(right), \(bottom)" }
}

/// How a frame is fitted to the render size before the layer's transform is applied.
public enum LayerFit: String, Sendable, Hashable, CaseIterable {
    /// One pixel of the frame is one pixel of the composition.
    case none
    /// As large as fits, in the middle; the frame keeps its shape.
    case fit
    /// The frame fills the render size, whatever its shape.
    case stretch
}
