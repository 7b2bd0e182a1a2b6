/// Width and height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    public var width: Int
    public var height: Int
    public init(width: Int, height: Int) { self.width = width; self.height = height }
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle of whole pixels; `x` and `y` count from the top left.
public struct PixelRect: Sendable, Hashable {
    public var x, y, width, height: Int
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
    public init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }
    public var size: PixelSize { PixelSize(width: width, height: height) }
}

/// A fraction of two whole numbers, kept as written: a pixel aspect, a frame rate. `denominator` 0 means unknown.
public struct Ratio: Sendable, Hashable, CustomStringConvertible {
    public var numerator: Int32
    public var denominator: Int32
    public init(_ numerator: Int32, _ denominator: Int32) { self.numerator = numerator; self.denominator = denominator }
    public static let unknown = Ratio(0, 0)
    public static let one = Ratio(1, 1)
    public var isKnown: Bool { numerator > 0 && denominator > 0 }
    public var doubleValue: Double { Double(numerator) / Double(denominator) }
    public var description: String { "\(numerator)/\(denominator)" }
}

/// How a decoded frame must be turned to stand upright: a clockwise rotation, then perhaps a left-right mirroring.
public struct PictureOrientation: Sendable, Hashable {
    public enum Rotation: Int, Sendable { case none = 0, clockwise90 = 90, clockwise180 = 180, clockwise270 = 270 }
    public var rotation: Rotation
    public var isMirrored: Bool
    public init(rotation: Rotation = .none, isMirrored: Bool = false) { self.rotation = rotation; self.isMirrored = isMirrored }
    public static let upright = PictureOrientation()
}

/// What a display must know about a frame besides its memory.
public struct PictureAttributes: Sendable, Hashable {
    /// Width of a pixel over its height. Unknown when the stream says nothing: displays then take square pixels.
    public var pixelAspect: Ratio
    public var orientation: PictureOrientation
    public var color: ColorDescription
    public var hdr: HDRStaticMetadata?

    public init(
        pixelAspect: Ratio = .unknown, orientation: PictureOrientation = .upright,
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
        if orientation.rotation == .clockwise90 || orientation.rotation == .clockwise270 {
            size = PixelSize(width: size.height, height: size.width)
        }
        return size
    }
}
