internal import FrameExport
public import Media
internal import SurfacePool

/// What one texel of a plane's texture holds.
public enum TexelFormat: String, Sendable, Hashable, CaseIterable {
    /// Named for the components and their bits: `rg16` has two components of 16 bits each, `rgb565` three in 16 bits together.
    case r8, rg8, r16, rg16, rgb8, rgba8, rgba16, rgb565

    /// Bytes of a texel.
    public var byteCount: Int {
        switch self {
        case .r8: 1
        case .rg8, .r16, .rgb565: 2
        case .rgb8: 3
        case .rg16, .rgba8: 4
        case .rgba16: 8
        }
    }
}

/// A plane of a frame as a texture: what its texels are and where its bytes lie.
public struct TexturePlane: Sendable, Hashable {
    /// What one texel holds.
    public var texel: TexelFormat
    /// In texels: a coarser plane has fewer.
    public var size: PixelSize
    /// Bytes from the start of the memory.
    public var offset: Int
    /// Bytes from one row to the next.
    public var pitch: Int
    /// The kernel's code of a single-plane frame with these texels; nil where there is none.
    public var fourCC: FourCC?
}

/// Where the visible frame lies in its textures, in parts of their size, 0…1. The same for every plane.
public struct TextureCrop: Sendable, Hashable {
    /// The left and upper edge and the size, each as a part of the texture's width or height.
    public var left, top, width, height: Float
}

/// A component of a texel, or the number 1.
enum TexelChannel: Sendable, Hashable { case red, green, blue, alpha, one }

/// How a frame's memory is divided into textures. It is computed; no device is queried.
struct TexturePlan: Sendable, Hashable {
    let description: FrameDescription
    /// Pixels that the textures cover, from the top left of the memory to the right and lower edge of what is visible. Filtering at those edges
    /// then reads no invisible pixels; the left and upper edge of a frame are rarely cropped.
    let extent: PixelSize
    let planes: [TexturePlane]
    let crop: TextureCrop
    /// What samples are multiplied by so that 1 is the greatest code value: 64 for 10 bits in the low end of 16.
    let codeScale: Float

    /// Where sampling finds red, green, blue and alpha in an uploaded or imported texel of packed RGB; empty where they are in order.
    let channels: [TexelChannel]

    /// Nil for formats without textures: palettes, bitmaps, and 48 bits a pixel.
    init?(_ frame: FrameDescription) {
        let format = frame.pixelFormat, facts = format.description, layout = frame.layout
        guard facts.model != .palette else { return nil }
        let unitX = 1 << facts.chromaShiftX, unitY = 1 << facts.chromaShiftY
        let right = frame.visible.x + frame.visible.width, bottom = frame.visible.y + frame.visible.height
        guard right > 0, bottom > 0, right <= layout.size.width, bottom <= layout.size.height, facts.planes.count <= layout.planeCount else {
            return nil
        }
        // Rounded up to a whole chroma sample, so that luma and chroma cover the same area; the memory extends that far.
        let width = min((right + unitX - 1) / unitX * unitX, layout.size.width),
            height = min((bottom + unitY - 1) / unitY * unitY, layout.size.height)
        extent = PixelSize(width: width, height: height)
        var planes: [TexturePlane] = []
        for (index, fact) in facts.planes.enumerated() {
            guard let texel = Self.texel(format, facts, fact) else { return nil }
            let place = layout.plane(index)
            let size = PixelSize(width: (width + (1 << fact.horizontalShift) - 1) >> fact.horizontalShift, height: fact.rows(height: height))
            planes.append(
                TexturePlane(
                    texel: texel, size: size, offset: place.offset, pitch: place.pitch,
                    fourCC: facts.planes.count == 1 && facts.model == .rgb ? format.fourCC : Self.code(texel)))
        }
        self.planes = planes
        description = frame
        crop = TextureCrop(
            left: Float(frame.visible.x) / Float(width), top: Float(frame.visible.y) / Float(height),
            width: Float(frame.visible.width) / Float(width), height: Float(frame.visible.height) / Float(height))
        codeScale = Self.codeScale(format, facts)
        channels = Self.channels(format)
    }

    /// Pixel bytes that an upload moves.
    var byteCount: Int { planes.reduce(0) { $0 + $1.size.width * $1.size.height * $1.texel.byteCount } }

    private static func texel(_ format: PixelFormat, _ facts: PixelFormat.Description, _ plane: PixelFormat.Plane) -> TexelFormat? {
        switch (plane.bitsPerSample, facts.bitDepth) {
        case (8, _): .r8
        case (16, 5): nil
        case (16, 6): .rgb565
        case (16, ...8): .rg8
        case (16, _): .r16
        case (24, _): .rgb8
        case (32, ...8): .rgba8
        case (32, _): .rg16
        case (64, _): .rgba16
        default: nil
        }
    }

    private static func code(_ texel: TexelFormat) -> FourCC? {
        switch texel {
        case .r8: FourCC("R8  ")
        case .rg8: FourCC("GR88")
        case .r16: FourCC("R16 ")
        case .rg16: FourCC("GR32")
        case .rgba8: FourCC("AB24")
        case .rgba16: FourCC("AB48")
        case .rgb8, .rgb565: nil
        }
    }

    private static func channels(_ format: PixelFormat) -> [TexelChannel] {
        switch format {
        case .bgra: [.blue, .green, .red, .alpha]
        case .bgr0, .bgr24: [.blue, .green, .red, .one]
        case .rgb0: [.red, .green, .blue, .one]
        case .argb: [.green, .blue, .alpha, .red]
        case .zrgb: [.green, .blue, .alpha, .one]
        case .abgr: [.alpha, .blue, .green, .red]
        case .zbgr: [.alpha, .blue, .green, .one]
        default: []
        }
    }

    private static func codeScale(_ format: PixelFormat, _ facts: PixelFormat.Description) -> Float {
        guard facts.bitDepth > 8, facts.bitDepth < 16 else { return 1 }
        let greatest = (1 << facts.bitDepth) - 1
        return Float(65535) / Float(format == .p010le ? greatest << (16 - facts.bitDepth) : greatest)
    }
}
