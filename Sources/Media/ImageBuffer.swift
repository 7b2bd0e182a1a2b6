/// A decoded frame that can travel as a sample, next to compressed ones.
///
/// Thread-safety: all of it; immutable.
public protocol ImageBuffer: AnyObject, Sendable {
    /// The part meant to be seen, in pixels.
    var visibleSize: PixelSize { get }
    var pixelFormat: PixelFormat { get }
}
