public import Composition
internal import Dispatch
public import Media
public import PixelConversion
public import Reading

/// The built-in compositor on a GPU: the same layers, and the same code values, as `LayerCompositor` draws on the CPU.
///
///     let compositor = try GPULayerCompositor()
///     try await player.open(film, videoComposition: video, compositor: compositor)
///
/// It draws with OpenGL ES 3, in a context of its own without a window. Frames in DMA-BUFs are read where the decoder wrote them and the result is
/// drawn into the surfaces that displays and encoders read, through texture caches; other memory is copied to the device and back. Frames in
/// NV12 and P010, as hardware decodes them, are read as they are; those with alpha are laid over what lies below them. Frames of another size,
/// matrix, range or orientation are converted on the CPU first, as they are for `LayerCompositor`. Mesa's software drivers do as well as a device.
///
/// Thread-safety: all of it. One compositor may serve several outputs; it draws one frame at a time.
public final class GPULayerCompositor: VideoCompositing {
    /// One of `LayerCompositor.formats`.
    public let renderFormat: PixelFormat
    /// What frames must look like: memory that the device imports, or else the CPU reads.
    public let sourceRequirements: OutputRequirements
    /// The device and its driver, as OpenGL names them: `llvmpipe (LLVM 15.0.6, 256 bits)`.
    public let device: String
    /// Where the context is used.
    private let queue = DispatchQueue(label: "gpu layers")
    /// On the queue: the renderer that is used there.
    private static let place = DispatchSpecificKey<ObjectIdentifier>()
    private let renderer: GPURenderer
    private let state = Monitor(GPUCompositorReport())

    /// Opens the device.
    ///
    /// - Parameter format: One of `LayerCompositor.formats`: 8 or 10 bits.
    /// - Throws: `.composition` with one sentence where there is no EGL, no OpenGL ES 3, or for 10 bits no textures of 16 bits.
    public init(format: PixelFormat = .yuv420p) throws(ReadingError) {
        precondition(LayerCompositor.formats.contains(format), "\(format.rawValue) is not drawn")
        renderFormat = format
        renderer = try GPURenderer(format)
        queue.setSpecific(key: Self.place, value: ObjectIdentifier(renderer))
        device = renderer.device
        sourceRequirements = OutputRequirements(formats: renderer.sourceFormats, usages: renderer.importsImages ? [] : [.cpu])
    }

    /// Waits for the frame that is being drawn: a driver that is still in use when the program exits crashes.
    deinit {
        let isOnQueue = DispatchQueue.getSpecific(key: Self.place) == ObjectIdentifier(renderer)
        if isOnQueue { renderer.close() } else { queue.sync { renderer.close() } }
    }

    /// What has been drawn, and what it took to bring pixels to the device and back.
    public var report: GPUCompositorReport { state.withLock { $0 } }

    /// Draws the frame on the compositor's thread.
    public func start(_ request: VideoCompositionRequest) throws {
        guard let instruction = request.instruction as? VideoCompositionInstruction else {
            throw ReadingError(.composition, "\(type(of: request.instruction)) is no instruction of the built-in compositor")
        }
        queue.async { [renderer, state] in
            guard !request.isCancelled else { return request.finishCancelled() }
            do throws(ReadingError) {
                let frame = try renderer.render(request, instruction)
                state.withLock { $0 = renderer.report }
                request.finish(with: frame)
            } catch {
                request.finish(throwing: error)
            }
        }
    }
}

/// What a `GPULayerCompositor` has done; counted, never estimated.
public struct GPUCompositorReport: Sendable, Hashable {
    /// Frames that it drew.
    public var framesDrawn = 0
    /// Of these, those drawn into the memory that displays and encoders read.
    public var framesDrawnInPlace = 0
    /// Source frames whose memory the device read where the decoder wrote it.
    public var sourcesImported = 0
    /// Pixel bytes copied to the device, and back.
    public var bytesUploaded = 0, bytesReadBack = 0

    /// Begins with every count at 0.
    public init() {}
}
