internal import Media
internal import Reading
internal import SurfacePool

/// Draws one frame of layers after the other.
///
/// Thread-safety: one thread at a time.
final class LayerRenderer: @unchecked Sendable {
    private let preparation: LayerPreparation
    private var row: [UInt32] = []

    /// - Parameter format: That of the result.
    init(_ format: PixelFormat) { preparation = LayerPreparation([format], withAlpha: LayerCompositor.withAlpha(format)) }

    func render(_ request: VideoCompositionRequest, _ instruction: VideoCompositionInstruction) throws(ReadingError) -> VideoFrame {
        let context = request.renderContext, layers = try preparation.layers(request, instruction)
        let writer = try context.makeSurface(), layout = writer.surface.layout
        let colors = instruction.backgroundColor.codes(context.color, depth: context.format.description.bitDepth)
        unsafe writer.withUnsafeMutableBytes { bytes in
            let target = bytes.baseAddress!
            unsafe Self.lend(layers[...], []) { sources in
                for (index, plane) in context.format.description.planes.enumerated() {
                    let drawing = unsafe PlaneDrawing(plane, of: context.size, at: target + layout.plane(index).offset, layout.plane(index).pitch)
                    let slices = unsafe zip(layers, sources).map { unsafe LayerSlice($0, $1, plane: index) }
                    if plane.bitsPerSample == 8 {
                        drawing.draw(slices, over: UInt8(colors[index]), &row)
                    } else {
                        drawing.draw(slices, over: UInt16(colors[index]), &row)
                    }
                }
            }
        }
        return context.frame(writer)
    }

    /// Lends the bytes of all layers' frames.
    private static func lend(_ layers: ArraySlice<DrawnLayer>, _ bytes: [UnsafeRawPointer], _ body: ([UnsafeRawPointer]) -> Void) {
        guard let first = layers.first else { return unsafe body(bytes) }
        unsafe first.frame.surface.withUnsafeBytes { unsafe lend(layers.dropFirst(), bytes + [$0.baseAddress!], body) }
    }
}
