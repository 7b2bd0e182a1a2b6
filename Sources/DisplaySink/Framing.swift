internal import Glibc
public import Media

/// How a frame fits an area with another aspect ratio.
public enum Gravity: String, Sendable, Hashable, CaseIterable {
    /// The whole frame, with black borders.
    case aspect
    /// The whole area; the frame is cropped.
    case fill
    /// The whole frame in the whole area, distorted.
    case stretch
}

/// Which part of the frames a display shows, how it turns them, and how they fit the window or the monitor.
///
/// The frames stay as they are: displays scale, turn and cut off where they show them, and convert only what they cannot do so. Exporters hand out
/// whole frames. Numbers that are not finite count as 0, and those out of range as the nearest that are in it.
///
/// Thread-safety: a value.
public struct Framing: Sendable, Hashable {
    /// What `panscan` may be.
    public static let panscanRange = 0.0...1.0
    /// What `zoom` may be.
    public static let zoomRange = -20.0...20.0
    /// What `panX` and `panY` may be.
    public static let panRange = -3.0...3.0
    /// What `aspectRatio` may be.
    public static let aspectRange = 0.1...10.0

    /// How a frame fits an area with another aspect ratio.
    public var gravity: Gravity
    /// With `Gravity.aspect`: from 0, the whole frame with black borders, to 1, no borders and the frame's edges cut off.
    public var panscan = 0.0
    /// The frame is larger by this power of two: 1 doubles its width and height, and -1 halves them.
    public var zoom = 0.0
    /// How far the frame lies to the right of the middle, as a share of the width at which it is shown.
    public var panX = 0.0
    /// How far the frame lies below the middle, as a share of the height at which it is shown.
    public var panY = 0.0
    /// Width over height that a whole frame is to have before it is turned; unknown: what the film says.
    public var aspectRatio = Ratio.unknown
    /// The part of the frame that is shown, in its pixels from the top left of what is meant to be seen, before it is turned; nil: all of it.
    public var crop: PixelRect?
    /// How the frame is turned, after it stands as the film says.
    public var orientation = FrameOrientation.upright

    /// Makes a framing that shows the whole frame as the film says.
    public init(gravity: Gravity = .aspect) { self.gravity = gravity }

    /// What is to be seen of a frame: as if the film had said it. `FrameGeometry` fits that to an area.
    package func applied(to visible: PixelRect, _ attributes: FrameAttributes) -> (visible: PixelRect, attributes: FrameAttributes) {
        var (part, turned) = (visible, attributes)
        if aspectRatio.isKnown, visible.width > 0, visible.height > 0 {
            let pixel = aspectRatio.doubleValue * Double(visible.height) / Double(visible.width)
            turned.pixelAspect = Ratio(Int32((min(max(pixel, 1e-4), 1e4) * 100_000).rounded()), 100_000)
        }
        if let crop {
            let left = min(max(crop.x, 0), visible.width - 1), top = min(max(crop.y, 0), visible.height - 1)
            part = PixelRect(
                x: visible.x + left, y: visible.y + top, width: max(1, min(crop.width, visible.width - left)),
                height: max(1, min(crop.height, visible.height - top)))
        }
        turned.orientation = attributes.orientation.followed(by: orientation)
        return (part, turned)
    }

    /// Whether a frame is shown as large as it fits, in the middle.
    package var isPlain: Bool { zoom == 0 && panX == 0 && panY == 0 }

    /// How wide and how high a frame is shown, as multiples of the area.
    ///
    /// - Parameter excess: the frame's aspect ratio divided by the area's.
    func extents(excess: Double) -> (across: Extent, down: Extent) {
        var (across, down) = (Extent(), Extent())
        if gravity != .stretch {
            let share = gravity == .fill ? 1 : Self.limited(panscan, Self.panscanRange)
            if excess > 1 {
                across = Extent().blended(Extent(over: excess), share)
                down = Extent(under: excess).blended(Extent(), share)
            } else {
                across = Extent(over: excess).blended(Extent(), share)
                down = Extent().blended(Extent(under: excess), share)
            }
        }
        let factor = exp2(Self.limited(zoom, Self.zoomRange))
        (across.over, down.over) = (across.over * factor, down.over * factor)
        (across.pan, down.pan) = (Self.limited(panX, Self.panRange), Self.limited(panY, Self.panRange))
        return (across, down)
    }

    private static func limited(_ number: Double, _ range: ClosedRange<Double>) -> Double {
        number.isFinite ? min(max(number, range.lowerBound), range.upperBound) : 0
    }
}

extension FrameOrientation {
    /// Both, one after the other.
    package func followed(by next: FrameOrientation) -> FrameOrientation {
        // What is mirrored before it is turned is turned the other way before it is mirrored.
        let turn = isMirrored ? 360 - next.rotation.rawValue : next.rotation.rawValue
        return FrameOrientation(
            rotation: Rotation(rawValue: (rotation.rawValue + turn) % 360) ?? .none, isMirrored: isMirrored != next.isMirrored)
    }
}
