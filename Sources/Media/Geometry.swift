/// Width and height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// Columns, in pixels.
    public var width: Int
    /// Rows, in pixels.
    public var height: Int
    /// Takes any numbers; it checks nothing.
    public init(width: Int, height: Int) { self.width = width; self.height = height }
    /// Width and height as `1920x1080`.
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle of whole pixels; `x` and `y` count from the top left.
public struct PixelRect: Sendable, Hashable {
    /// The top left corner, and the columns and rows from there on.
    public var x, y, width, height: Int
    /// Takes any numbers, in pixels; it checks nothing.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
    /// The whole area of `size`, from the top left corner.
    public init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }
    /// Width and height without the position.
    public var size: PixelSize { PixelSize(width: width, height: height) }
}

/// A fraction of two whole numbers, kept as written: a pixel aspect, a frame rate. `denominator` 0 means unknown.
public struct Ratio: Sendable, Hashable, CustomStringConvertible {
    /// The number above the fraction bar, not reduced.
    public var numerator: Int32
    /// The number below the fraction bar, not reduced; 0 means unknown.
    public var denominator: Int32
    /// The fraction `numerator / denominator`, kept as written.
    public init(_ numerator: Int32, _ denominator: Int32) { self.numerator = numerator; self.denominator = denominator }
    /// The value 0/0, for a fraction that nobody states.
    public static let unknown = Ratio(0, 0)
    /// The value 1/1: square pixels.
    public static let one = Ratio(1, 1)
    /// Whether both numbers are above zero. A fraction of 0 counts as unknown too.
    public var isKnown: Bool { numerator > 0 && denominator > 0 }
    /// The nearest floating-point number. Infinite or NaN when `denominator` is 0.
    public var doubleValue: Double { Double(numerator) / Double(denominator) }
    /// The fraction as written, such as `30000/1001`.
    public var description: String { "\(numerator)/\(denominator)" }
}

/// How a decoded frame must be turned to stand upright: a clockwise rotation, then perhaps a left-right mirroring.
public struct FrameOrientation: Sendable, Hashable {
    /// A clockwise turn by a multiple of 90 degrees. The raw value is the angle in degrees.
    public enum Rotation: Int, Sendable { case none = 0, clockwise90 = 90, clockwise180 = 180, clockwise270 = 270 }
    /// The clockwise turn that a display applies first.
    public var rotation: Rotation
    /// Whether a display exchanges left and right after the rotation.
    public var isMirrored: Bool
    /// By default neither rotated nor mirrored.
    public init(rotation: Rotation = .none, isMirrored: Bool = false) { self.rotation = rotation; self.isMirrored = isMirrored }
    /// No rotation and no mirroring: the frame is shown as it was decoded.
    public static let upright = FrameOrientation()
    /// Whether a quarter turn exchanges width and height.
    package var isSideways: Bool { rotation == .clockwise90 || rotation == .clockwise270 }
}

/// What a display must know about a frame besides its memory.
public struct FrameAttributes: Sendable, Hashable {
    /// Width of a pixel over its height. Unknown when the stream says nothing: displays then take square pixels.
    public var pixelAspect: Ratio
    /// How a display must turn the frame.
    public var orientation: FrameOrientation
    /// How the code values of the pixels turn into light.
    public var color: ColorDescription
    /// The brightness and colours that an HDR10 film was graded for; nil when the film does not state them.
    public var hdr: HDRStaticMetadata?

    /// By default unknown pixel aspect, upright, unspecified colour and no HDR metadata.
    public init(
        pixelAspect: Ratio = .unknown, orientation: FrameOrientation = .upright,
        color: ColorDescription = .unspecified, hdr: HDRStaticMetadata? = nil
    ) {
        self.pixelAspect = pixelAspect
        self.orientation = orientation
        self.color = color
        self.hdr = hdr
    }

    /// The size at which a frame of `visible` pixels looks right on square pixels: aspect and rotation applied.
    public func displaySize(of visible: PixelSize) -> PixelSize {
        var size = visible
        if pixelAspect.isKnown, pixelAspect.numerator != pixelAspect.denominator {
            let scaled = Double(visible.width) * pixelAspect.doubleValue
            if scaled >= 1, scaled < 1_048_576 { size.width = Int(scaled.rounded()) }
        }
        if orientation.isSideways {
            size = PixelSize(width: size.height, height: size.width)
        }
        return size
    }
}
