internal import Media
internal import PixelConversion
internal import Reading
internal import SurfacePool

/// Draws one frame of layers after the other.
///
/// Thread-safety: one thread at a time.
final class LayerRenderer: @unchecked Sendable {
    /// Four: one for each layer that is scaled in most compositions, and as many again.
    private var converters = RecentlyUsed<ConversionTarget, PixelTransferSession>(limit: 4)
    private var row: [UInt32] = []

    func render(_ request: VideoCompositionRequest, _ instruction: VideoCompositionInstruction) throws(ReadingError) -> VideoFrame {
        let context = request.renderContext
        var layers: [DrawnLayer] = []
        for layer in instruction.layers.reversed() {
            guard let drawn = try drawn(layer, request) else { continue }
            // What lies below it is not seen.
            if drawn.weight == DrawnLayer.opaque, drawn.place.shown == PixelRect(context.size) { layers = [] }
            layers.append(drawn)
        }
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

    /// nil where nothing of the layer is seen.
    private func drawn(_ layer: VideoCompositionLayer, _ request: VideoCompositionRequest) throws(ReadingError) -> DrawnLayer? {
        let time = request.compositionTime, context = request.renderContext
        let weight = UInt32((layer.opacity.value(at: time) * Double(DrawnLayer.opaque)).rounded())
        guard weight > 0, let frame = request.sourceFrame(layer.track) else { return nil }
        let place = LayerPlace(
            frame.visible.size, aspect: frame.attributes.pixelAspect, in: context.size, scale: context.renderScale, fit: layer.fit,
            transform: layer.transform.value(at: time), crop: layer.crop.value(at: time))
        guard place.shown.width > 0, place.shown.height > 0 else { return nil }
        let own = frame.attributes.color.resolved(for: frame.pixelFormat, size: frame.visible.size)
        let isFit =
            frame.visible.size == place.frame.size && frame.visible.x % 2 == 0 && frame.visible.y % 2 == 0
            && frame.pixelFormat == context.format && own.matrix == context.color.matrix && own.range == context.color.range
        if isFit { return DrawnLayer(frame, place, weight) }
        let target = ConversionTarget(format: context.format, size: place.frame.size, matrix: context.color.matrix, range: context.color.range)
        // Frames are drawn on several threads, so that each needs one only.
        let converter = converters.value(target) { PixelTransferSession(to: target, threads: 1) }
        do throws(PixelConversionError) { return DrawnLayer(try converter.convert(frame), place, weight) } catch {
            throw ReadingError(.conversion, "Track \(layer.track), at \(time): \(error.description).", time: time)
        }
    }

    /// Lends the bytes of all layers' frames.
    private static func lend(_ layers: ArraySlice<DrawnLayer>, _ bytes: [UnsafeRawPointer], _ body: ([UnsafeRawPointer]) -> Void) {
        guard let first = layers.first else { return unsafe body(bytes) }
        unsafe first.frame.surface.withUnsafeBytes { unsafe lend(layers.dropFirst(), bytes + [$0.baseAddress!], body) }
    }
}

/// A layer with a frame that has its size and its colours.
final class DrawnLayer {
    let frame: VideoFrame
    let place: LayerPlace
    /// 65,536 shows nothing of what lies below.
    let weight: UInt32

    static let opaque: UInt32 = 1 << 16

    init(_ frame: consuming VideoFrame, _ place: LayerPlace, _ weight: UInt32) {
        self.frame = frame
        self.place = place
        self.weight = weight
    }
}
