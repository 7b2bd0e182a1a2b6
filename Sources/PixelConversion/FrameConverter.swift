public import Media
public import SurfacePool

/// Makes frames of another kind, in surfaces of a pool of its own.
///
/// `PixelTransferSession` does it on the CPU; a program can bring a converter of its own, on a GPU for example.
///
/// Thread-safety: one thread at a time; `interrupt` and `resume` from any.
public protocol FrameConverter: AnyObject, Sendable {
    /// What frames are converted to.
    var target: ConversionTarget { get }
    /// Whether frames of this format can be converted.
    func canConvert(_ format: PixelFormat) -> Bool
    /// The frame as the target says, with the source's times and flags. It borrows the source's use, which may end as soon as this returns.
    /// - Throws: `.unsupportedFormat`, or `.outOfSurfaces`.
    func convert(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> VideoFrame
    /// Makes a `convert` that waits for a surface throw `.outOfSurfaces`, and every later one until `resume`.
    func interrupt()
    /// Ends what `interrupt` began.
    func resume()
}
