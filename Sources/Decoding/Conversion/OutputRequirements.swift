public import Media
internal import SurfacePool

/// What a consumer needs of decoded pictures. Say no more than is needed: what is left empty is as the decoder makes it, and costs nothing.
///
/// The counterpart of Video Toolbox's destination image buffer attributes. A picture that meets them all is handed out where the decoder wrote it.
/// Only for one that does not is a conversion inserted (`PixelTransfer`), and the session's `conversion` says from what to what, why, and what it costs.
public struct OutputRequirements: Sendable, Hashable {
    /// What is to be possible with a picture.
    public enum Usage: Sendable, Hashable, CaseIterable {
        /// Read in place by the CPU: not memory of a hardware decoder.
        case cpu
        /// Shown by a display: the kernel has a code for the format.
        case display
        /// Imported by EGL or Vulkan: the same, in a DMA-BUF.
        case egl, vulkan
    }

    /// Any of these; empty: any.
    public var formats: Set<PixelFormat>
    /// Any of these; empty: any. Conversions make linear memory only.
    public var modifiers: Set<FormatModifier>
    /// Any of these sizes of what is meant to be seen, in pixels; empty: any. Where none fits, the picture is scaled to the nearest by area.
    public var sizes: Set<PixelSize>
    /// All of these.
    public var usages: Set<Usage>

    public init(
        formats: Set<PixelFormat> = [], modifiers: Set<FormatModifier> = [], sizes: Set<PixelSize> = [], usages: Set<Usage> = []
    ) {
        self.formats = formats
        self.modifiers = modifiers
        self.sizes = sizes
        self.usages = usages
    }

    public var isEmpty: Bool { self == OutputRequirements() }

    /// What of a picture matters here.
    struct Offer: Hashable {
        var format: PixelFormat
        var modifier: FormatModifier
        var size: PixelSize
        var memory: SurfaceMemory.Kind
        var isDMABuf: Bool

        init(format: PixelFormat, modifier: FormatModifier, size: PixelSize, memory: SurfaceMemory.Kind, isDMABuf: Bool) {
            self.format = format
            self.modifier = modifier
            self.size = size
            self.memory = memory
            self.isDMABuf = isDMABuf
        }

        init(_ frame: borrowing VideoFrame) {
            let surface = frame.surface
            self.init(
                format: surface.layout.format, modifier: surface.layout.modifier, size: frame.visible.size, memory: surface.memoryKind,
                isDMABuf: surface.isDMABuf)
        }
    }

    /// Why a picture does not do, in half a sentence; nil when it does.
    func reason(against offer: Offer) -> String? {
        if !formats.isEmpty, !formats.contains(offer.format) {
            return "the decoder puts out \(offer.format.rawValue), wanted is \(Self.list(formats.map(\.rawValue)))"
        }
        if !modifiers.isEmpty, !modifiers.contains(offer.modifier) {
            return "its modifier is \(offer.modifier), wanted is \(Self.list(modifiers.map(\.description)))"
        }
        if !sizes.isEmpty, !sizes.contains(offer.size) {
            return "it is \(Self.text(offer.size)), wanted is \(Self.list(sizes.map(Self.text)))"
        }
        if usages.contains(.cpu), offer.memory == .va { return "the CPU cannot read the hardware's memory in place" }
        if !usages.isDisjoint(with: [.display, .egl, .vulkan]), offer.format.fourCC == nil {
            return "no display or GPU has a code for \(offer.format.rawValue)"
        }
        if !usages.isDisjoint(with: [.egl, .vulkan]), !offer.isDMABuf { return "\(offer.memory.rawValue) is no memory that a GPU imports" }
        return nil
    }

    /// What a picture that does not do is best converted to; nil when no conversion helps.
    ///
    /// - Parameter nearest: Of some formats the one that keeps most of the first.
    func target(for offer: Offer, nearest: (PixelFormat, Set<PixelFormat>) -> PixelFormat?) -> PictureTarget? {
        guard modifiers.isEmpty || modifiers.contains(.linear) else { return nil }
        let needsCode = !usages.isDisjoint(with: [.display, .egl, .vulkan])
        func isFit(_ format: PixelFormat) -> Bool { ComponentMap(format) != nil && (!needsCode || format.fourCC != nil) }
        guard ComponentMap(offer.format) != nil else { return nil }
        let candidates = (formats.isEmpty ? Set(PixelFormat.allCases) : formats).filter(isFit)
        let format = candidates.contains(offer.format) ? offer.format : nearest(offer.format, candidates)
        guard let format else { return nil }
        let area = offer.size.width * offer.size.height
        let size = sizes.contains(offer.size) ? nil : sizes.min { Self.isNearer($0, $1, to: area) }
        return PictureTarget(format: format, size: size)
    }

    private static func isNearer(_ a: PixelSize, _ b: PixelSize, to area: Int) -> Bool {
        let first = abs(a.width * a.height - area), second = abs(b.width * b.height - area)
        return first != second ? first < second : (a.width, a.height) < (b.width, b.height)
    }

    private static func text(_ size: PixelSize) -> String { "\(size.width)x\(size.height)" }

    private static func list(_ words: [String]) -> String { words.sorted().joined(separator: " or ") }
}

/// A conversion that a session had to insert.
public struct OutputConversion: Sendable, Hashable {
    /// Pixel formats and sizes.
    public var from: String
    public var to: String
    /// Half a sentence.
    public var why: String
    /// Pictures converted so far.
    public var frames = 0
    /// Bytes written for one picture.
    public var bytesPerFrame = 0
    /// What one picture took on the average.
    public var secondsPerFrame = 0.0

    /// `Converts yuv420p 640x360 to bgra 640x360, because …: 921600 bytes and 1.3 ms a picture.`
    public var sentence: String {
        let milliseconds = (secondsPerFrame * 10_000).rounded() / 10
        return "Converts \(from) to \(to), because \(why): \(bytesPerFrame) bytes and \(milliseconds) ms a picture."
    }
}
