public import Media
public import SurfacePool

/// What a consumer needs of decoded frames. Ask for no more than is needed: whatever is left empty stays as the decoder makes it and costs nothing.
///
/// The counterpart of Video Toolbox's destination image buffer attributes. A frame that meets all of them is handed out where the decoder wrote it.
/// Any other frame is converted (`PixelTransferSession`), and the decoder's `conversion` says from what to what, why, and what it costs.
public struct OutputRequirements: Sendable, Hashable {
    /// What must be possible with a frame.
    public enum Usage: Sendable, Hashable, CaseIterable {
        /// Read in place by the CPU: not memory of a hardware decoder.
        case cpu
        /// Shown by a display: the kernel has a code for the format.
        case display
        /// Imported by EGL or Vulkan: the kernel has a code for the format, and the memory is a DMA-BUF.
        case egl, vulkan
    }

    /// One of these; empty: any.
    public var formats: Set<PixelFormat>
    /// One of these; empty: any. Conversions write linear memory only.
    public var modifiers: Set<FormatModifier>
    /// One of these visible sizes, in pixels; empty: any. A frame of another size is scaled to the one nearest by area.
    public var sizes: Set<PixelSize>
    /// All of these.
    public var usages: Set<Usage>
    /// The device that imports the frames, by its render node; nil: any, or none. Frames that another device has laid out in a way of its own, with
    /// any modifier but linear, are converted, since only that device reads them.
    public var device: DeviceNumber?

    /// Requires what is not left empty; without arguments every frame meets the requirements.
    public init(
        formats: Set<PixelFormat> = [], modifiers: Set<FormatModifier> = [], sizes: Set<PixelSize> = [], usages: Set<Usage> = []
    ) {
        self.formats = formats
        self.modifiers = modifiers
        self.sizes = sizes
        self.usages = usages
    }

    /// Whether every frame meets the requirements.
    public var isEmpty: Bool { self == OutputRequirements() }

    /// Whether frames with alpha can be handed out with it: any format will do, or one of the formats has colour and alpha.
    package var keepAlpha: Bool { formats.isEmpty || formats.contains { $0.description.hasColorAndAlpha } }

    /// The properties of a frame that requirements are compared with.
    package struct Offer: Hashable, Sendable {
        package var format: PixelFormat
        package var modifier: FormatModifier
        package var size: PixelSize
        package var memory: SurfaceMemory.Kind
        package var isDMABuf: Bool
        package var device: DeviceNumber?

        package init(
            format: PixelFormat, modifier: FormatModifier, size: PixelSize, memory: SurfaceMemory.Kind, isDMABuf: Bool, device: DeviceNumber? = nil
        ) {
            self.format = format
            self.modifier = modifier
            self.size = size
            self.memory = memory
            self.isDMABuf = isDMABuf
            self.device = device
        }

        package init(_ frame: borrowing VideoFrame) {
            let surface = frame.surface
            self.init(
                format: surface.layout.format, modifier: surface.layout.modifier, size: frame.visible.size, memory: surface.memoryKind,
                isDMABuf: surface.isDMABuf, device: surface.device)
        }
    }

    /// Why a frame does not meet the requirements, in half a sentence; nil when it does.
    package func reason(against offer: Offer) -> String? {
        if !formats.isEmpty, !formats.contains(offer.format) {
            let loss = offer.format.description.hasColorAndAlpha && !keepAlpha ? ", without alpha" : ""
            return "the decoder makes \(offer.format.rawValue), the consumer needs \(Self.list(formats.map(\.rawValue)))\(loss)"
        }
        if !modifiers.isEmpty, !modifiers.contains(offer.modifier) {
            return "its modifier is \(offer.modifier), the consumer needs \(Self.list(modifiers.map(\.description)))"
        }
        if !sizes.isEmpty, !sizes.contains(offer.size) {
            return "its size is \(offer.size), the consumer needs \(Self.list(sizes.map(\.description)))"
        }
        if let device, let owner = offer.device, owner != device, offer.modifier != .linear {
            return "the device \(owner) has laid it out in its own way (\(offer.modifier)), the consumer imports it on \(device)"
        }
        if usages.contains(.cpu), offer.memory == .va { return "the CPU cannot read the hardware's memory in place" }
        if !usages.isDisjoint(with: [.display, .egl, .vulkan]), offer.format.fourCC == nil {
            return "no display or GPU has a code for \(offer.format.rawValue)"
        }
        if !usages.isDisjoint(with: [.egl, .vulkan]), !offer.isDMABuf { return "a GPU cannot import \(offer.memory.rawValue) memory" }
        return nil
    }

    /// The best conversion for a frame that does not meet the requirements: the format that keeps most of it. nil when no conversion helps.
    package func target(for offer: Offer) -> ConversionTarget? {
        guard modifiers.isEmpty || modifiers.contains(.linear) else { return nil }
        let needsCode = !usages.isDisjoint(with: [.display, .egl, .vulkan])
        func isFit(_ format: PixelFormat) -> Bool { ComponentMap(format) != nil && (!needsCode || format.fourCC != nil) }
        guard ComponentMap(offer.format) != nil else { return nil }
        let candidates = (formats.isEmpty ? Set(PixelFormat.allCases) : formats).filter(isFit)
        let hasAlpha = offer.format.description.hasAlpha, table = PixelFormatTable.shared
        let isTaken = candidates.contains(offer.format)
        let format = isTaken ? offer.format : table.nearest(to: offer.format, among: candidates, keepingAlpha: hasAlpha)
        guard let format else { return nil }
        let area = offer.size.width * offer.size.height
        let size = sizes.contains(offer.size) ? nil : sizes.min { Self.isNearer($0, $1, to: area) }
        return ConversionTarget(format: format, size: size)
    }

    private static func isNearer(_ a: PixelSize, _ b: PixelSize, to area: Int) -> Bool {
        let first = abs(a.width * a.height - area), second = abs(b.width * b.height - area)
        return first != second ? first < second : (a.width, a.height) < (b.width, b.height)
    }

    private static func list(_ words: [String]) -> String { words.sorted().joined(separator: " or ") }
}
