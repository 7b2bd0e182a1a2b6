internal import CVA
internal import Glibc
package import Media

/// Surfaces that a hardware decoder writes, each exported once as a DMA-BUF that displays and GPUs import.
///
/// Only the driver knows where the planes of a surface lie: `layout` is that of the first surface, which `init` makes.
/// The corresponding C functions are `vaCreateSurfaces` and `vaExportSurfaceHandle` (DRM PRIME 2, separate layers).
///
/// Thread-safety: all of it.
package final class VAAllocator: SurfaceAllocator {
    private let device: VADevice
    private let format: PixelFormat
    private let size: PixelSize
    private let statistics: FrameStatistics
    /// The layout of every surface.
    package let layout: SurfaceLayout
    /// The surface that `init` made to learn the layout, until `allocate` hands it out.
    private let first: Monitor<First>

    private struct First: ~Copyable {
        var exported: Exported?
    }

    /// A surface with the descriptor of its memory and the places of its planes.
    private struct Exported: ~Copyable {
        var surface: VASurface
        var layout: SurfaceLayout
        var descriptor: OwnedFD
    }

    package var name: String { "va" }

    /// - Parameters:
    ///   - format: `.nv12` or `.p010le`.
    ///   - size: Of the surfaces, as the decoder asks for them.
    ///   - statistics: Counts the bytes that are copied when the CPU reads a surface that it cannot read in place.
    package init(device: VADevice, format: PixelFormat, size: PixelSize, statistics: FrameStatistics) throws(SurfaceError) {
        self.device = device
        self.format = format
        self.size = size
        self.statistics = statistics
        let exported = try Self.export(VASurface(device: device, format: format, size: size, statistics: statistics), format: format, size: size)
        layout = exported.layout
        first = Monitor(First(exported: exported))
    }

    package func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        var kept = first.withLock { $0.exported.take() }
        if let exported = kept.take() { return try Self.memory(exported, layout) }
        let surface = try VASurface(device: device, format: format, size: size, statistics: statistics)
        return try Self.memory(Self.export(surface, format: format, size: size), layout)
    }

    private static func memory(_ exported: consuming Exported, _ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        guard exported.layout == layout else {
            throw SurfaceError(.unavailable, "The driver lays surfaces of one kind out in different ways.")
        }
        let surface = exported.surface
        return try SurfaceMemory(
            kind: .va, descriptor: exported.descriptor, byteCount: layout.byteCount, isLinear: layout.modifier == .linear, owner: surface)
    }

    private static func export(_ surface: VASurface, format: PixelFormat, size: PixelSize) throws(SurfaceError) -> Exported {
        var export = cva_export()
        let status = unsafe cva_export_surface(surface.device.display, surface.id, &export)
        guard status == VA_STATUS_SUCCESS else {
            throw SurfaceError(.unavailable, "The driver does not export its surfaces as DMA-BUFs: \(VADevice.reason(status)).", status: status)
        }
        let fds = [export.fds.0, export.fds.1, export.fds.2, export.fds.3].prefix(Int(export.objects))
        guard let number = fds.first else { throw SurfaceError(.unavailable, "The driver exports surfaces without memory.") }
        let descriptor = OwnedFD(adopting: number)
        let others = fds.dropFirst().map { (isSame: isSame($0, number), closed: close($0)) }
        // Some drivers name the same memory once for every plane.
        guard others.allSatisfy(\.isSame) else {
            throw SurfaceError(.unavailable, "The driver keeps the planes of a frame in separate pieces of memory.")
        }
        guard export.layers == 2, format.planeCount == 2 else {
            throw SurfaceError(.unavailable, "The driver exports \(export.layers) planes of a \(format.rawValue) frame.")
        }
        let planes = [
            SurfaceLayout.Plane(offset: Int(export.offsets.0), pitch: Int(export.pitches.0)),
            SurfaceLayout.Plane(offset: Int(export.offsets.1), pitch: Int(export.pitches.1)),
        ]
        do throws(SurfaceError) {
            let layout = try SurfaceLayout(
                checking: format, size: size, modifier: FormatModifier(rawValue: export.modifiers.0), planes: planes,
                byteCount: Int(export.sizes.0))
            return Exported(surface: surface, layout: layout, descriptor: descriptor)
        } catch {
            throw SurfaceError(.unavailable, "The driver exports a surface that does not hold its frame: \(error)")
        }
    }

    /// Whether two descriptors name one DMA-BUF: each DMA-BUF has an inode of its own.
    private static func isSame(_ a: Int32, _ b: Int32) -> Bool {
        var first = stat(), second = stat()
        guard unsafe fstat(a, &first) == 0, unsafe fstat(b, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
