internal import CWaylandClient
internal import CWaylandProtocols
internal import Media
internal import SurfacePool

/// One `wl_buffer`, and the use of the memory behind it while the compositor may read it.
///
/// It is attached at most once between two releases, because a release does not say which of two attachments it ends.
///
/// With a timeline, a point of it marks the release, and `collect` must be called to notice it. The `release` event has no meaning then.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandBuffer {
    let proxy: OpaquePointer
    let size: PixelSize
    /// Nil: the `release` event ends the use.
    let timeline: BufferTimeline?
    /// True from the attachment to the release.
    private(set) var isHeld = false
    private var use: SurfaceUse?
    private var isDestroyed = false

    init(_ proxy: OpaquePointer, size: PixelSize, timeline: BufferTimeline? = nil) {
        unsafe self.proxy = proxy
        self.size = size
        self.timeline = timeline
        unsafe listen(proxy, Self.listener, self)
    }

    deinit { destroy() }

    /// Attaches to `surface` and keeps `use` until the release.
    ///
    /// - Parameter explicit: The surface's `wp_linux_drm_syncobj_surface_v1`; required for a buffer with a timeline.
    func attach(to surface: OpaquePointer, keeping use: consuming SurfaceUse?, explicit: OpaquePointer? = nil) {
        precondition(!isHeld, "a buffer is attached once at a time")
        isHeld = true
        if let timeline, let explicit = unsafe explicit, let fd = use?.surface.fd { unsafe timeline.begin(explicit, dmabuf: fd) }
        self.use = use
        unsafe wl_surface_attach(surface, proxy, 0, 0)
    }

    /// A buffer over a surface's memfd, through `wl_shm`; nil when the surface has none, or the connection fails.
    ///
    /// - Parameter code: `wl_shm`'s code of the format.
    static func shared(_ connection: WaylandConnection, _ surface: Surface, size: PixelSize, code: UInt32) -> WaylandBuffer? {
        guard let memfd = surface.memfd, let pool = unsafe wl_shm_create_pool(connection.shm, memfd, Int32(surface.layout.byteCount))
        else { return nil }
        // The buffer keeps the memory.
        defer { unsafe wl_shm_pool_destroy(pool) }
        let plane = surface.layout.plane(0)
        return unsafe wl_shm_pool_create_buffer(pool, Int32(plane.offset), Int32(size.width), Int32(size.height), Int32(plane.pitch), code).map {
            unsafe WaylandBuffer($0, size: size)
        }
    }

    /// Destroys the `wl_buffer`. The compositor may read the memory until the connection ends.
    func destroy() {
        guard !isDestroyed else { return }
        isDestroyed = true
        unsafe wl_buffer_destroy(proxy)
        timeline?.destroy()
    }

    /// Ends the use if the release point is reached.
    func collect() { if isHeld, let timeline, timeline.isReleased { released() } }

    private func released() {
        isHeld = false
        use = nil
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wl_buffer_listener(release: { data, _ in
            let buffer = unsafe receiver(data, as: WaylandBuffer.self)
            if buffer.timeline == nil { buffer.released() }
        }))
}
