internal import Dispatch
public import Media
public import PixelConversion
internal import Reading

/// The built-in compositor: layers with opacity, place and crop over a background, on the CPU.
///
/// It draws `VideoCompositionInstruction`s in YUV 4:2:0, several frames at the same time. Each code value is within 1 of what floating-point
/// arithmetic gives. A layer with alpha, which is straight, is laid over what lies below it. Frames of another size are scaled by zimg, those of
/// another matrix or range are converted, and those that lie on their side are turned upright.
///
/// Thread-safety: all of it. One compositor may serve several outputs.
public final class LayerCompositor: VideoCompositing {
    /// What can be drawn: three planes of 8 or 10 bits.
    public static let formats: [PixelFormat] = [.yuv420p, .yuv420p10le]
    /// One of `formats`.
    public let renderFormat: PixelFormat
    private let queue = DispatchQueue(label: "layers", attributes: .concurrent)
    /// Those that draw no frame now.
    private let idle = Monitor<[LayerRenderer]>([])

    /// - Parameter format: One of `formats`: 8 or 10 bits.
    public init(format: PixelFormat = .yuv420p) {
        precondition(Self.formats.contains(format), "\(format.rawValue) is not drawn")
        renderFormat = format
    }

    /// Frames that the CPU reads, in the format of the result, or with alpha beside it.
    public var sourceRequirements: OutputRequirements {
        OutputRequirements(formats: [renderFormat, Self.withAlpha(renderFormat)], usages: [.cpu])
    }

    /// The same format with alpha as a fourth plane.
    package static func withAlpha(_ format: PixelFormat) -> PixelFormat { format == .yuv420p10le ? .yuva420p10le : .yuva420p }

    /// Draws the frame on a thread of its own.
    public func start(_ request: VideoCompositionRequest) throws {
        guard let instruction = request.instruction as? VideoCompositionInstruction else {
            throw ReadingError(.composition, "\(type(of: request.instruction)) is no instruction of the built-in compositor")
        }
        queue.async { [self] in
            guard !request.isCancelled else { return request.finishCancelled() }
            let renderer = idle.withLock { $0.popLast() } ?? LayerRenderer(renderFormat)
            do throws(ReadingError) {
                request.finish(with: try renderer.render(request, instruction))
            } catch {
                request.finish(throwing: error)
            }
            idle.withLock { $0.append(renderer) }
        }
    }
}
