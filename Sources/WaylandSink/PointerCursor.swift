internal import CWaylandClient
internal import Media
internal import SurfacePool

/// The pointer's image: a plain arrow, so that no cursor theme is needed.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class PointerCursor {
    /// Position of the arrow's tip from the top left.
    static let hotspot: Int32 = 1
    private static let side = 20
    let surface: OpaquePointer
    private let use: SurfaceUse
    private let buffer: WaylandBuffer

    init?(_ connection: WaylandConnection) {
        let size = PixelSize(width: Self.side, height: Self.side)
        // 0: ARGB8888, premultiplied.
        guard let use = unsafe Surface.drawn(.bgra, size, { unsafe Self.draw($0, pitch: $1) }),
            let buffer = WaylandBuffer.shared(connection, use.surface, size: size, code: 0),
            let surface = unsafe wl_compositor_create_surface(connection.compositor)
        else { return nil }
        self.use = use
        self.buffer = buffer
        unsafe self.surface = surface
        unsafe buffer.attach(to: surface, keeping: nil)
        unsafe wl_surface_damage_buffer(surface, 0, 0, Int32(Self.side), Int32(Self.side))
        unsafe wl_surface_commit(surface)
    }

    /// A white triangle with a black outline.
    private static func draw(_ bytes: UnsafeMutableRawBufferPointer, pitch: Int) {
        for y in 0..<side {
            for x in 0..<side {
                let isInside = x <= y * 2 / 3 + 1 && x + y < side + 8 && y < side - 2 && x <= y
                let isEdge = x == 0 || y == side - 3 || x >= min(y, y * 2 / 3 + 1) - 1
                let color: UInt32 = isEdge ? 0xff00_0000 : 0xffff_ffff
                unsafe bytes.storeBytes(of: isInside ? color : 0, toByteOffset: y * pitch + x * 4, as: UInt32.self)
            }
        }
    }

    func destroy() {
        unsafe wl_surface_destroy(surface)
        buffer.destroy()
    }
}
