internal import CWaylandClient
internal import CWaylandProtocols
internal import SurfacePool

/// One `wl_buffer`, and the use of the memory behind it while the compositor may read it.
///
/// Between two releases it is attached once at most: a release that answers two attachments could not be told from one that answers the
/// first.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandBuffer {
    let proxy: OpaquePointer
    /// From the attachment to the release.
    private(set) var isHeld = false
    private var use: SurfaceUse?
    private var isDestroyed = false

    init(_ proxy: OpaquePointer) {
        unsafe self.proxy = proxy
        unsafe listen(proxy, Self.listener, self)
    }

    deinit { destroy() }

    /// Attaches to `surface` and keeps `use` until the release.
    func attach(to surface: OpaquePointer, keeping use: consuming SurfaceUse?) {
        precondition(!isHeld, "a buffer is attached once at a time")
        isHeld = true
        self.use = use
        unsafe wl_surface_attach(surface, proxy, 0, 0)
    }

    /// Takes the buffer from the compositor, which may go on reading the memory until the connection ends.
    func destroy() {
        if !isDestroyed { unsafe wl_buffer_destroy(proxy) }
        isDestroyed = true
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wl_buffer_listener(release: { data, _ in
            let buffer = unsafe receiver(data, as: WaylandBuffer.self)
            buffer.isHeld = false
            buffer.use = nil
        }))
}
