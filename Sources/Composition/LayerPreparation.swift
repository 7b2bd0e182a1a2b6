package import Media
internal import PixelConversion
package import Reading
package import SurfacePool

/// What compositors of layers do before they draw: finds out which layers are seen and where, and brings their frames into the size, the colours and
/// the orientation in which they are drawn.
///
/// Thread-safety: one thread at a time.
package final class LayerPreparation: @unchecked Sendable {
    /// What can be drawn from; frames of other formats are converted.
    private let formats: Set<PixelFormat>
    /// What frames with alpha are drawn from.
    private let alphaFormat: PixelFormat
    /// Four: one for each layer that is scaled in most compositions, and as many again.
    private var converters = RecentlyUsed<ConversionTarget, PixelTransferSession>(limit: 4)
    private let rotator = PixelRotationSession(holdCount: mostLayers)
    /// More layers than frames are made of: all of one size may be held at once.
    private static let mostLayers = 256

    package init(_ formats: Set<PixelFormat>, withAlpha alphaFormat: PixelFormat) {
        self.formats = formats.union([alphaFormat])
        self.alphaFormat = alphaFormat
    }

    /// The layers that are seen, the lowest first.
    package func layers(_ request: VideoCompositionRequest, _ instruction: VideoCompositionInstruction) throws(ReadingError) -> [DrawnLayer] {
        var layers: [DrawnLayer] = []
        for layer in instruction.layers.reversed() {
            guard let drawn = try drawn(layer, request) else { continue }
            // What lies below it is not seen.
            if drawn.weight == DrawnLayer.opaque, !drawn.hasAlpha, drawn.place.shown == PixelRect(request.renderContext.size) { layers = [] }
            layers.append(drawn)
        }
        return layers
    }

    /// nil where nothing of the layer is seen.
    private func drawn(_ layer: VideoCompositionLayer, _ request: VideoCompositionRequest) throws(ReadingError) -> DrawnLayer? {
        let time = request.compositionTime, context = request.renderContext
        let weight = UInt32((layer.opacity.value(at: time) * Double(DrawnLayer.opaque)).rounded())
        guard weight > 0, let frame = request.sourceFrame(layer.track) else { return nil }
        let orientation = frame.attributes.orientation, isSideways = orientation.isSideways
        let place = LayerPlace(
            frame.visible.size.turned(isSideways), aspect: frame.attributes.pixelAspect.turned(isSideways), in: context.size,
            scale: context.renderScale, fit: layer.fit,
            transform: layer.transform.value(at: time), crop: layer.crop.value(at: time))
        guard place.shown.width > 0, place.shown.height > 0 else { return nil }
        let own = frame.attributes.color.resolved(for: frame.pixelFormat, size: frame.visible.size)
        let isFit =
            frame.visible.size.turned(isSideways) == place.frame.size && frame.visible.x % 2 == 0 && frame.visible.y % 2 == 0
            && formats.contains(frame.pixelFormat) && own.matrix == context.color.matrix && own.range == context.color.range
        if isFit, orientation == .upright { return DrawnLayer(frame, place, weight) }
        let size = place.frame.size.turned(isSideways)
        let format = frame.pixelFormat.description.hasColorAndAlpha ? alphaFormat : context.format
        let target = ConversionTarget(format: format, size: size, matrix: context.color.matrix, range: context.color.range)
        // Frames are drawn on several threads, so that each needs one only.
        let converter = converters.value(target) { PixelTransferSession(to: target, holdCount: Self.mostLayers, threads: 1) }
        do throws(PixelConversionError) {
            let fitted = isFit ? frame.copy() : try converter.convert(frame)
            return DrawnLayer(orientation == .upright ? fitted : try rotator.rotate(fitted), place, weight)
        } catch {
            throw ReadingError(.conversion, "Track \(layer.track), at \(time): \(error.description).", time: time)
        }
    }
}

/// A layer with a frame that has its size and its colours.
package final class DrawnLayer: Sendable {
    package let frame: VideoFrame
    package let place: LayerPlace
    /// 65,536 shows nothing of what lies below.
    package let weight: UInt32

    package static let opaque: UInt32 = 1 << 16

    /// Something of what lies below may be seen through it, whatever its weight.
    package var hasAlpha: Bool { frame.pixelFormat.description.hasColorAndAlpha }

    init(_ frame: consuming VideoFrame, _ place: LayerPlace, _ weight: UInt32) {
        self.frame = frame
        self.place = place
        self.weight = weight
    }
}
