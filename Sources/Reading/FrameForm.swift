internal import Media
internal import PixelConversion
internal import SurfacePool

/// Brings frames into the form that a `FrameGenerator` hands out: format, size, square pixels, upright.
///
/// Thread-safety: one thread at a time.
final class FrameForm {
    private let options: FrameGeneratorOptions
    private var converters: [ConversionTarget: PixelTransferSession] = [:]
    private lazy var rotator = PixelRotationSession(allocator: options.reading.allocator, holdCount: options.holdCount)

    init(_ options: FrameGeneratorOptions) { self.options = options }

    /// The frame as wanted; the same frame where it is so already.
    func apply(_ frame: consuming VideoFrame, _ location: String) throws(ReadingError) -> VideoFrame {
        let turns = options.appliesOrientation && frame.attributes.orientation != .upright
        var format = options.format ?? frame.pixelFormat
        let hasAlpha = frame.pixelFormat.description.hasAlpha && frame.pixelFormat.description.model != .palette
        if hasAlpha, options.alpha == .kept { format = Self.withAlpha(format) }
        if turns, options.format == nil, !PixelRotationSession.canRotate(format) { format = .bgra }
        let size = size(of: frame.visible.size, frame.attributes)
        let (time, from) = (frame.presentationTime, frame.pixelFormat)
        let mapsLight = options.toneMapping != nil && ToneMapping.applies(to: frame.attributes.color)
        do throws(PixelConversionError) {
            if format != from || size != frame.visible.size || mapsLight {
                var target = ConversionTarget(
                    format: format, size: size == frame.visible.size ? nil : size, toneMapping: mapsLight ? options.toneMapping : nil)
                target.liesOverBlack = hasAlpha && options.alpha == .overBlack
                frame = try converter(target).convert(frame)
            }
            return turns ? try rotator.rotate(frame) : frame
        } catch {
            throw ReadingError(ReadingError.code(error), "\(location), at \(time): \(error.description).", time: time)
        }
    }

    /// The format with alpha for one without.
    private static func withAlpha(_ format: PixelFormat) -> PixelFormat {
        switch format {
        case .rgb24, .rgb0: .rgba
        case .bgr24, .bgr0: .bgra
        default: format
        }
    }

    /// Before the frame is turned.
    private func size(of visible: PixelSize, _ attributes: FrameAttributes) -> PixelSize {
        var size = visible
        if options.appliesPixelAspect {
            var unturned = attributes
            unturned.orientation = .upright
            size = unturned.displaySize(of: visible)
        }
        guard var limit = options.maximumSize else { return size }
        if options.appliesOrientation, attributes.orientation.isSideways {
            limit = PixelSize(width: limit.height, height: limit.width)
        }
        var scale = 1.0
        if limit.width > 0 { scale = min(scale, Double(limit.width) / Double(size.width)) }
        if limit.height > 0 { scale = min(scale, Double(limit.height) / Double(size.height)) }
        guard scale < 1 else { return size }
        func side(_ length: Int) -> Int { max(Int((Double(length) * scale).rounded()), 1) }
        return PixelSize(width: side(size.width), height: side(size.height))
    }

    private func converter(_ target: ConversionTarget) -> PixelTransferSession {
        if let known = converters[target] { return known }
        let made = PixelTransferSession(to: target, allocator: options.reading.allocator, holdCount: options.holdCount)
        converters[target] = made
        return made
    }
}
