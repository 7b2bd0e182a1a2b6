public import Media

/// What is to be drawn during a stretch of time. A compositor of one's own may have instructions of its own type.
///
/// The counterpart of `AVVideoCompositionInstructionProtocol`.
public protocol VideoCompositionInstructing: Sendable {
    /// When, in the time of the composition.
    var timeRange: MediaTimeRange { get }
    /// Where no layer covers the frame.
    var backgroundColor: CompositionColor { get }
    /// The numbers of the tracks whose frames the compositor gets; no others are decoded.
    var requiredTracks: [Int] { get }
    /// The track whose frames are shown as they are, without the compositor; nil when there is none.
    var passthroughTrack: Int? { get }
    /// Whether the result changes while the source frames stay the same. Without tweening a frame is drawn once for the same source frames.
    var containsTweening: Bool { get }
    /// Whether the result is meant for steps after the compositor. Nothing here comes after it: a compositor of one's own reads this of its request.
    var enablesPostProcessing: Bool { get }
    /// What is wrong with it, beside what every instruction must observe.
    func faults() -> [VideoCompositionFault]
}

extension VideoCompositionInstructing {
    /// Black.
    public var backgroundColor: CompositionColor { .black }
    /// None.
    public var passthroughTrack: Int? { nil }
    /// Yes.
    public var containsTweening: Bool { true }
    /// No.
    public var enablesPostProcessing: Bool { false }
    /// None.
    public func faults() -> [VideoCompositionFault] { [] }
}

/// A colour in red, green and blue of the composition's own primaries and transfer curve, from 0 to 1.
public struct CompositionColor: Sendable, Hashable {
    /// From 0 to 1 each.
    public var red, green, blue: Double

    /// Takes numbers from 0 to 1.
    public init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// All three 0.
    public static let black = CompositionColor(red: 0, green: 0, blue: 0)
}

/// A track's frame among others: how opaque it is, where it lies, and which part of it is shown.
///
/// Edges lie on whole chroma samples: a place or a crop between two is rounded to the nearer one.
///
/// Thread-safety: a value.
public struct VideoCompositionLayer: Sendable, Hashable {
    /// The number of the track.
    public var track: Int
    /// How its frames are fitted to the render size before `transform` is applied.
    public var fit: LayerFit
    /// From 0, which shows nothing of the layer, to 1, which shows nothing of what lies below.
    public var opacity: Ramped<Double>
    /// Where it lies.
    public var transform: Ramped<LayerTransform>
    /// Which part of it is shown.
    public var crop: Ramped<LayerCrop>

    /// A layer that does not change unless ramps are added.
    public init(
        track: Int, fit: LayerFit = .none, opacity: Double = 1, transform: LayerTransform = .identity, crop: LayerCrop = .whole
    ) {
        self.track = track
        self.fit = fit
        self.opacity = Ramped(opacity)
        self.transform = Ramped(transform)
        self.crop = Ramped(crop)
    }

    /// Whether it changes during `range`.
    public func changes(in range: MediaTimeRange) -> Bool { opacity.changes(in: range) || transform.changes(in: range) || crop.changes(in: range) }

    /// Whether it shows its frame as it is all the time, if that has the render size.
    var isPlain: Bool { opacity == Ramped(1) && transform == Ramped(.identity) && crop == Ramped(.whole) }
}

/// The built-in compositor's instruction: layers over a background.
///
/// Thread-safety: a value.
public struct VideoCompositionInstruction: VideoCompositionInstructing, Hashable {
    /// When, in the time of the composition.
    public var timeRange: MediaTimeRange
    /// Where no layer covers the frame.
    public var backgroundColor: CompositionColor
    /// The first lies on top.
    public var layers: [VideoCompositionLayer]
    /// Whether the result is meant for steps after the compositor.
    public var enablesPostProcessing = false

    /// Layers over a background; without layers the background alone.
    public init(timeRange: MediaTimeRange, layers: [VideoCompositionLayer], backgroundColor: CompositionColor = .black) {
        self.timeRange = timeRange
        self.layers = layers
        self.backgroundColor = backgroundColor
    }

    /// The tracks of the layers.
    public var requiredTracks: [Int] {
        var tracks: [Int] = []
        for layer in layers where !tracks.contains(layer.track) { tracks.append(layer.track) }
        return tracks
    }

    /// The topmost layer's track, if that layer shows its frames as they are. A frame of another size than the render size is drawn.
    public var passthroughTrack: Int? {
        guard let top = layers.first, top.isPlain else { return nil }
        return top.track
    }

    /// Whether a layer changes.
    public var containsTweening: Bool { layers.contains { $0.changes(in: timeRange) } }

    /// Opacities outside of 0 to 1, crops outside of the frame, transforms that are no numbers, and ramps that overlap.
    public func faults() -> [VideoCompositionFault] {
        layers.flatMap { layer in
            let found = [
                ("opacity", layer.opacity.fault { (0...1).contains($0) }), ("transform", layer.transform.fault()), ("crop", layer.crop.fault()),
            ]
            return found.compactMap { name, fault in
                fault.map {
                    VideoCompositionFault(
                        .ramp, at: max($0.0, timeRange.start), "The \(name) of track \(layer.track) is wrong: \($0.1).", layer.track)
                }
            }
        }
    }
}
