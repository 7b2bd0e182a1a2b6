public import Media

/// Where a frame comes from or goes to.
public enum TransitionDirection: String, Sendable, Hashable, CaseIterable {
    /// To the left edge, and so on.
    case left, right, up, down
}

extension VideoCompositionInstruction {
    /// One frame fades into another: the upper one's opacity falls evenly from 1 to 0.
    public static func crossDissolve(from old: Int, to new: Int, in range: MediaTimeRange, fit: LayerFit = .none) -> Self {
        var top = VideoCompositionLayer(track: old, fit: fit)
        top.opacity.ramp(from: 1, to: 0, during: range)
        return Self(timeRange: range, layers: [top, VideoCompositionLayer(track: new, fit: fit)])
    }

    /// The new frame pushes the old one out, towards `direction`.
    /// - Parameter size: The render size.
    public static func push(
        from old: Int, to new: Int, in range: MediaTimeRange, towards direction: TransitionDirection, size: PixelSize, fit: LayerFit = .none
    ) -> Self {
        let (x, y): (Double, Double) =
            switch direction {
            case .left: (-Double(size.width), 0)
            case .right: (Double(size.width), 0)
            case .up: (0, -Double(size.height))
            case .down: (0, Double(size.height))
            }
        var leaving = VideoCompositionLayer(track: old, fit: fit), coming = VideoCompositionLayer(track: new, fit: fit)
        leaving.transform.ramp(from: .identity, to: LayerTransform(x: x, y: y), during: range)
        coming.transform.ramp(from: LayerTransform(x: -x, y: -y), to: .identity, during: range)
        return Self(timeRange: range, layers: [leaving, coming])
    }

    /// An edge moves over the frame towards `direction`; behind it lies the new frame.
    public static func wipe(
        from old: Int, to new: Int, in range: MediaTimeRange, towards direction: TransitionDirection, fit: LayerFit = .none
    ) -> Self {
        let nothing: LayerCrop =
            switch direction {
            case .left: LayerCrop(right: 0)
            case .right: LayerCrop(left: 1)
            case .up: LayerCrop(bottom: 0)
            case .down: LayerCrop(top: 1)
            }
        var leaving = VideoCompositionLayer(track: old, fit: fit)
        leaving.crop.ramp(from: .whole, to: nothing, during: range)
        return Self(timeRange: range, layers: [leaving, VideoCompositionLayer(track: new, fit: fit)])
    }

    /// A small frame over a large one.
    /// - Parameters:
    ///   - place: In pixels of the render size.
    ///   - size: The render size.
    public static func pictureInPicture(_ small: Int, over large: Int, at place: PixelRect, size: PixelSize, in range: MediaTimeRange) -> Self {
        let transform = LayerTransform(
            scaleX: Double(place.width) / Double(size.width), scaleY: Double(place.height) / Double(size.height), x: Double(place.x),
            y: Double(place.y))
        let top = VideoCompositionLayer(track: small, fit: .stretch, transform: transform)
        return Self(timeRange: range, layers: [top, VideoCompositionLayer(track: large, fit: .stretch)])
    }
}
