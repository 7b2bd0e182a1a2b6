internal import Decoding
public import Media
public import Reading
public import SurfacePool

/// What a compositor draws into: the size, the format and the colours of the result, and surfaces for it.
///
/// The counterpart of `AVVideoCompositionRenderContext`.
///
/// Thread-safety: all of it.
public final class RenderContext: Sendable {
    /// The size of the result's frames, in pixels: the render size times the scale.
    public let size: PixelSize
    /// Pixels of the result for one of the render size, in which instructions count.
    public let renderScale: Double
    /// The format of the result's frames.
    public let format: PixelFormat
    /// The colours of the result's frames, without gaps.
    public let color: ColorDescription
    private let pool: SurfacePool

    init(
        size: PixelSize, renderScale: Double, format: PixelFormat, color: ColorDescription, allocator: any SurfaceAllocator, count: Int
    ) {
        self.size = size
        self.renderScale = renderScale
        self.format = format
        self.color = color
        pool = SurfacePool(layout: SurfaceLayout(format: format, covering: size), allocator: allocator, maximumCount: count)
    }

    /// A surface to draw into, which displays and encoders then read in place. Waits while consumers hold all of them.
    /// - Throws: `.decoding(.outOfSurfaces)` when there is no memory, or nobody waits for the frame any more.
    public func makeSurface() throws(ReadingError) -> SurfaceWriter {
        do throws(SurfaceError) {
            if let writer = try pool.acquire(waitingUntil: nil) { return writer }
        } catch {
            throw ReadingError(.decoding(.outOfSurfaces), "A composed frame has no memory: \(error.description).")
        }
        throw ReadingError(.decoding(.outOfSurfaces), "There is no surface for a composed frame.")
    }

    /// The frame that a surface holds, with the colours and the size of the result. Its time is set by the reader.
    public func frame(_ surface: consuming SurfaceWriter) -> VideoFrame {
        VideoFrame(
            use: surface.finish(), visible: PixelRect(size), attributes: FrameAttributes(pixelAspect: .one, color: color), presentationTime: .invalid,
            sequence: 0)
    }

    /// Ends every wait for a surface, now and later.
    func close() { pool.interrupt() }
}
