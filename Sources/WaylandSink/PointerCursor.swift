internal import CWaylandClient
internal import Media

/// The pointer's picture over the window: a plain arrow, so that no cursor theme has to be found and read.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class PointerCursor {
    /// Where in the picture the arrow points, from the top left.
    static let hotspot: Int32 = 1
    private static let side = 20
    let surface: OpaquePointer
    private let memory: SharedMemory
    private let buffer: WaylandBuffer

    init?(_ connection: WaylandConnection) {
        guard let memory = SharedMemory(connection, byteCount: Self.side * Self.side * 4),
            // 0: premultiplied alpha, red, green, blue.
            let buffer = memory.buffer(size: PixelSize(width: Self.side, height: Self.side), pitch: Self.side * 4, format: 0),
            let surface = unsafe wl_compositor_create_surface(connection.compositor)
        else { return nil }
        self.memory = memory
        self.buffer = buffer
        unsafe self.surface = surface
        let pixels = unsafe memory.base.assumingMemoryBound(to: UInt32.self)
        for y in 0..<Self.side {
            for x in 0..<Self.side {
                // A right-angled triangle, white in a black line.
                let isInside = x <= y * 2 / 3 + 1 && x + y < Self.side + 8 && y < Self.side - 2 && x <= y
                let isEdge = x == 0 || y == Self.side - 3 || x >= min(y, y * 2 / 3 + 1) - 1
                unsafe pixels[y * Self.side + x] = isInside ? (isEdge ? 0xff00_0000 : 0xffff_ffff) : 0
            }
        }
        unsafe buffer.attach(to: surface, keeping: nil)
        unsafe wl_surface_damage_buffer(surface, 0, 0, Int32(Self.side), Int32(Self.side))
        unsafe wl_surface_commit(surface)
    }

    func destroy() {
        unsafe wl_surface_destroy(surface)
        buffer.destroy()
    }
}
