public import Media
public import SurfacePool

/// Turns frames upright on the CPU: rotates and mirrors the visible part as the frame's orientation says, into surfaces of a pool.
///
/// The counterpart of Video Toolbox's `VTPixelRotationSession`. Displays and renderers apply the orientation by themselves, at no cost; this is
/// for consumers that cannot, such as still images.
///
/// Thread-safety: one thread at a time.
public final class PixelRotationSession {
    private let surfaces: ConversionSurfaces
    private let statistics: FrameStatistics

    /// Makes a session. Memory is allocated with the first frame.
    ///
    /// - Parameters:
    ///   - holdCount: Turned frames that consumers may hold at once; `rotate` waits while they hold more.
    ///   - statistics: Whose `bytesCopied` grows by every frame.
    public init(allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4, statistics: FrameStatistics = FrameStatistics()) {
        surfaces = ConversionSurfaces(allocator: allocator, holdCount: holdCount)
        self.statistics = statistics
    }

    /// Whether every frame of `format` can be turned: those with one plane and whole bytes for each pixel.
    public static func canRotate(_ format: PixelFormat) -> Bool { format.description.planes.count == 1 && hasTurnablePlanes(format) }

    /// Whether a frame of `format` can be turned: besides the formats above those of several planes, as long as chroma is as coarse down as across
    /// (4:2:0, 4:4:4) and the frame begins and ends with whole chroma samples. Chroma stays on its samples; what `attributes.color` says of their
    /// place is not turned.
    public static func canRotate(_ format: PixelFormat, _ visible: PixelRect) -> Bool {
        let facts = format.description, unit = 1 << facts.chromaShiftX
        return hasTurnablePlanes(format) && [visible.x, visible.y, visible.width, visible.height].allSatisfy { $0 % unit == 0 }
    }

    private static func hasTurnablePlanes(_ format: PixelFormat) -> Bool {
        let facts = format.description
        return facts.model != .palette && facts.planes.allSatisfy { $0.bitsPerSample % 8 == 0 && $0.horizontalShift == $0.verticalShift }
    }

    /// The frame as a viewer sees it, with `attributes.orientation` upright and the pixel aspect turned with it.
    ///
    /// - Throws: `.unsupportedFormat` for frames that `canRotate` does not take, `.outOfSurfaces`.
    public func rotate(_ frame: borrowing VideoFrame) throws(PixelConversionError) -> VideoFrame {
        let format = frame.surface.layout.format, visible = frame.visible, orientation = frame.attributes.orientation
        guard Self.canRotate(format, visible) else {
            throw PixelConversionError(.unsupportedFormat, "frames of \(visible.size) in \(format.rawValue) cannot be rotated")
        }
        let size = orientation.isSideways ? PixelSize(width: visible.height, height: visible.width) : visible.size
        let writer = try surfaces.take(SurfaceLayout(format: format, covering: size))
        let source = frame.surface.layout, result = writer.surface.layout
        unsafe frame.surface.withUnsafeBytes { bytes in
            unsafe writer.withUnsafeMutableBytes { target in
                for (index, plane) in format.description.planes.enumerated() {
                    unsafe Self.turn(plane, visible, orientation, bytes, source.plane(index), target, result.plane(index))
                }
            }
        }
        statistics.addCopied(format.byteCount(width: size.width, height: size.height))
        var attributes = frame.attributes
        attributes.orientation = .upright
        if orientation.isSideways { attributes.pixelAspect = Ratio(attributes.pixelAspect.denominator, attributes.pixelAspect.numerator) }
        return frame.moved(to: writer.finish(), visible: PixelRect(size), attributes: attributes)
    }

    private static func turn(
        _ plane: PixelFormat.Plane, _ visible: PixelRect, _ orientation: FrameOrientation, _ bytes: UnsafeRawBufferPointer,
        _ from: SurfaceLayout.Plane, _ target: UnsafeMutableRawBufferPointer, _ to: SurfaceLayout.Plane
    ) {
        let shift = plane.horizontalShift, pixel = plane.bitsPerSample / 8
        let size = PixelSize(width: visible.width >> shift, height: visible.height >> shift)
        let (width, height) = orientation.isSideways ? (size.height, size.width) : (size.width, size.height)
        let start = from.offset + (visible.y >> shift) * from.pitch + (visible.x >> shift) * pixel
        for row in 0..<height {
            var (place, step) = line(row, orientation, of: size, pixel: pixel, pitch: from.pitch)
            place += start
            if orientation.isMirrored {
                place += (width - 1) * step
                step = -step
            }
            var goal = to.offset + row * to.pitch
            for _ in 0..<width {
                for byte in 0..<pixel { unsafe target[goal + byte] = unsafe bytes[place + byte] }
                place += step
                goal += pixel
            }
        }
    }

    /// Where the pixels of a row of the turned frame lie in the source: the first one's place, and the bytes from one to the next.
    private static func line(_ row: Int, _ orientation: FrameOrientation, of size: PixelSize, pixel: Int, pitch: Int) -> (Int, Int) {
        let right = (size.width - 1) * pixel, bottom = (size.height - 1) * pitch
        return switch orientation.rotation {
        case .none: (row * pitch, pixel)
        case .clockwise90: (bottom + row * pixel, -pitch)
        case .clockwise180: (bottom - row * pitch + right, -pixel)
        case .clockwise270: (right - row * pixel, pitch)
        }
    }
}
