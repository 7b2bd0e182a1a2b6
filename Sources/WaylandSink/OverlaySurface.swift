internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import SurfacePool

/// A surface over the film that shows subtitles or messages, in the window's own pixels.
///
/// It is a synchronized subsurface of the film's: what is set here takes effect with the film's next commit, at the same refresh.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class OverlaySurface {
    private let connection: WaylandConnection
    private let proxy, subsurface: OpaquePointer
    private var viewport: OpaquePointer?
    /// Those that the compositor may read.
    private var buffers: [WaylandBuffer] = []
    private var shown: OverlayImage?
    private var place: (x: Int32, y: Int32)?

    /// - Parameter film: The surface below.
    init?(_ connection: WaylandConnection, over film: OpaquePointer) {
        guard let proxy = unsafe wl_compositor_create_surface(connection.compositor),
            let subsurface = unsafe wl_subcompositor_get_subsurface(connection.subcompositor, proxy, film)
        else { return nil }
        self.connection = connection
        unsafe (self.proxy, self.subsurface) = unsafe (proxy, subsurface)
        let nowhere = unsafe wl_compositor_create_region(connection.compositor)
        unsafe wl_surface_set_input_region(proxy, nowhere)
        unsafe wl_region_destroy(nowhere)
    }

    /// Destroys everything. The compositor may read the images until the connection ends.
    func destroy() {
        if let viewport = unsafe viewport { unsafe wp_viewport_destroy(viewport) }
        unsafe wl_subsurface_destroy(subsurface)
        unsafe wl_surface_destroy(proxy)
        for buffer in buffers { buffer.destroy() }
        buffers = []
    }

    /// In how many pixels places and sizes must be counted at this scale, in 120ths, so that they are whole in the window's coordinates, too.
    static func step(_ scale120: Int) -> Int {
        var (a, b) = (scale120, 120)
        while b != 0 { (a, b) = (b, a % b) }
        return scale120 / max(1, a)
    }

    /// Shows an image from the film's next commit on; nil: nothing.
    ///
    /// - Parameters:
    ///   - origin: Where the film lies in the window.
    ///   - scale120: Pixels in 120 units of the window's coordinates.
    func show(_ image: OverlayImage?, filmAt origin: (x: Int, y: Int), scale120: Int) {
        if let image, image === shown || attach(image, scale120) {
            let new = (Int32(image.place.x * 120 / scale120 - origin.x), Int32(image.place.y * 120 / scale120 - origin.y))
            if place?.x != new.0 || place?.y != new.1 { unsafe wl_subsurface_set_position(subsurface, new.0, new.1) }
            place = new
        } else if image == nil, shown != nil {
            unsafe wl_surface_attach(proxy, nil, 0, 0)
            unsafe wl_surface_commit(proxy)
            shown = nil
        }
    }

    /// False when the image does not fit, because it was drawn for another scale, or the system has no memory.
    private func attach(_ image: OverlayImage, _ scale120: Int) -> Bool {
        let step = Self.step(scale120), place = image.place
        guard [place.x, place.y, place.width, place.height].allSatisfy({ $0 % step == 0 }) else { return false }
        for old in buffers where !old.isHeld { old.destroy() }
        buffers.removeAll { !$0.isHeld }
        let size = image.place.size, rowBytes = size.width * 4
        let drawn = unsafe Surface.drawn(.bgra, size) { bytes, pitch in
            unsafe image.pixels.withUnsafeBytes { pixels in
                for row in 0..<size.height {
                    unsafe (bytes.baseAddress! + row * pitch).copyMemory(from: pixels.baseAddress! + row * rowBytes, byteCount: rowBytes)
                }
            }
        }
        // 0: ARGB8888, premultiplied.
        guard let use = drawn, let buffer = WaylandBuffer.shared(connection, use.surface, size: size, code: 0) else { return false }
        unsafe buffer.attach(to: proxy, keeping: use)
        buffers.append(buffer)
        unsafe wl_surface_damage_buffer(proxy, 0, 0, Int32(size.width), Int32(size.height))
        setScale(scale120, size)
        unsafe wl_surface_commit(proxy)
        shown = image
        return true
    }

    /// A whole scale is the buffer's; another one needs a viewport.
    private func setScale(_ scale120: Int, _ size: PixelSize) {
        if scale120 % 120 == 0 {
            if let old = unsafe viewport { unsafe wp_viewport_destroy(old) }
            unsafe viewport = nil
            return unsafe wl_surface_set_buffer_scale(proxy, Int32(scale120 / 120))
        }
        if unsafe viewport == nil { unsafe viewport = wp_viewporter_get_viewport(connection.viewporter, proxy) }
        unsafe wl_surface_set_buffer_scale(proxy, 1)
        if let viewport = unsafe viewport {
            unsafe wp_viewport_set_destination(viewport, Int32(size.width * 120 / scale120), Int32(size.height * 120 / scale120))
        }
    }
}
