internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import SurfacePool

/// The window: a black area of the size that the compositor wants, and on it the film, placed and scaled by the compositor.
///
///     ┌ xdg_toplevel: wl_surface, black ──────────┐
///     │         ┌ wl_subsurface: the film ┐       │
///     │         └─────────────────────────┘       │
///     └───────────────────────────────────────────┘
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandWindow {
    private let connection: WaylandConnection
    private let root, xdgSurface, toplevel, rootViewport: OpaquePointer
    let film: FilmSurface
    private let subsurface: OpaquePointer
    private var decoration, inhibitor, fractional: OpaquePointer?
    private var black: WaylandBuffer?
    private var blackUse: SurfaceUse?

    /// What the compositor wants the window to be.
    private struct Wish {
        var size = PixelSize(width: 0, height: 0)
        var isFullscreen = false
        /// The user is dragging an edge: `size` is the most that the window may have.
        var isResizing = false
        var isSuspended = false
    }

    /// 160 × 90: smaller windows show nothing that a viewer could follow.
    private static let leastSize: (Int32, Int32) = (160, 90)
    /// 16: as far from an edge a pointer and a finger mean the edge.
    private static let edge = 16.0
    private let natural: PixelSize
    /// The size when the compositor has no wish.
    private var floatingSize: PixelSize
    private var wanted = Wish()
    /// In the window's units, which fractional scaling makes larger than pixels.
    private(set) var size: PixelSize
    private(set) var isFullscreen = false
    private(set) var isConfigured = false
    /// The compositor shows nothing of the window.
    private(set) var isSuspended = false
    /// Somebody draws a frame around the window.
    private(set) var isDecorated = false
    private var scale120 = 120
    private var needsLayout = true
    private var picture: (size: PixelSize, visible: PixelRect, attributes: PictureAttributes)?
    private var geometry: PictureGeometry?
    private var transform = Int32(-1)
    var gravity: Gravity { didSet { needsLayout = needsLayout || gravity != oldValue } }

    /// Told of the size in pixels when it changes, and of the wish to close.
    var resized: ((PixelSize) -> Void)?
    var closeRequested: (() -> Void)?

    /// Makes the window; it appears when it is `isConfigured` and has been given a picture.
    ///
    /// - Parameter natural: Size at which the film looks right.
    init?(_ connection: WaylandConnection, natural: PixelSize, title: String, gravity: Gravity, isFullscreen: Bool) {
        self.connection = connection
        self.gravity = gravity
        guard let root = unsafe wl_compositor_create_surface(connection.compositor),
            let film = FilmSurface(connection),
            let xdgSurface = unsafe xdg_wm_base_get_xdg_surface(connection.windowManager, root),
            let toplevel = unsafe xdg_surface_get_toplevel(xdgSurface),
            let rootViewport = unsafe wp_viewporter_get_viewport(connection.viewporter, root),
            let subsurface = unsafe wl_subcompositor_get_subsurface(connection.subcompositor, film.proxy, root)
        else { return nil }
        self.film = film
        unsafe (self.root, self.xdgSurface, self.toplevel) = unsafe (root, xdgSurface, toplevel)
        unsafe (self.rootViewport, self.subsurface) = unsafe (rootViewport, subsurface)
        let bounds = connection.outputs.values.map { PixelSize(width: $0.size.width / $0.scale, height: $0.size.height / $0.scale) }
            .max { $0.width * $0.height < $1.width * $1.height }
        floatingSize = PictureGeometry.windowSize(natural: natural, bounds: bounds)
        size = floatingSize
        self.natural = natural
        unsafe listen(xdgSurface, Self.surfaceListener, self)
        unsafe listen(toplevel, Self.toplevelListener, self)
        unsafe wl_subsurface_set_desync(subsurface)
        if let manager = unsafe connection.decoration, let made = unsafe zxdg_decoration_manager_v1_get_toplevel_decoration(manager, toplevel) {
            unsafe decoration = made
            unsafe listen(made, Self.decorationListener, self)
            unsafe zxdg_toplevel_decoration_v1_set_mode(made, UInt32(ZXDG_TOPLEVEL_DECORATION_V1_MODE_SERVER_SIDE.rawValue))
        }
        if let manager = unsafe connection.fractionalScale, let made = unsafe wp_fractional_scale_manager_v1_get_fractional_scale(manager, root) {
            unsafe fractional = made
            unsafe listen(made, Self.scaleListener, self)
        }
        unsafe xdg_toplevel_set_app_id(toplevel, "play")
        unsafe xdg_toplevel_set_min_size(toplevel, Self.leastSize.0, Self.leastSize.1)
        setTitle(title)
        // Before the first commit, so that the window never appears in another size.
        if isFullscreen { setFullscreen(true) }
        makeBlack()
        // The first commit, without a buffer, asks for the first configure.
        unsafe wl_surface_commit(root)
    }

    /// Destroys everything; the buffers that were attached are others'.
    func destroy() {
        setInhibiting(false)
        if let decoration = unsafe decoration { unsafe zxdg_toplevel_decoration_v1_destroy(decoration) }
        if let fractional = unsafe fractional { unsafe wp_fractional_scale_v1_destroy(fractional) }
        unsafe wl_subsurface_destroy(subsurface)
        film.destroy()
        unsafe wp_viewport_destroy(rootViewport)
        unsafe xdg_toplevel_destroy(toplevel)
        unsafe xdg_surface_destroy(xdgSurface)
        unsafe wl_surface_destroy(root)
        black = nil
        blackUse = nil
    }

    // MARK: Wishes

    func setTitle(_ title: String) { unsafe xdg_toplevel_set_title(toplevel, title) }

    func setFullscreen(_ isFullscreen: Bool) {
        if isFullscreen { unsafe xdg_toplevel_set_fullscreen(toplevel, nil) } else { unsafe xdg_toplevel_unset_fullscreen(toplevel) }
    }

    /// Keeps the screen lit while `isInhibiting`.
    func setInhibiting(_ isInhibiting: Bool) {
        if isInhibiting, unsafe inhibitor == nil, let manager = unsafe connection.idleInhibit {
            unsafe inhibitor = unsafe zwp_idle_inhibit_manager_v1_create_inhibitor(manager, root)
        } else if !isInhibiting, let old = unsafe inhibitor {
            unsafe zwp_idle_inhibitor_v1_destroy(old)
            unsafe inhibitor = nil
        }
    }

    /// Has the window follow the user's hand, or its edge where that is near: what a frame would do.
    func begin(_ drag: PressState.Drag) {
        var edges: UInt32 = 0
        if drag.y < Self.edge { edges = 1 } else if drag.y >= Double(size.height) - Self.edge { edges = 2 }
        if drag.x < Self.edge { edges |= 4 } else if drag.x >= Double(size.width) - Self.edge { edges |= 8 }
        if edges == 0 || isFullscreen {
            unsafe xdg_toplevel_move(toplevel, connection.seat, drag.serial)
        } else {
            unsafe xdg_toplevel_resize(toplevel, connection.seat, drag.serial, edges)
        }
    }

    // MARK: The picture

    /// Shows a frame's buffer from the next refresh on, keeping its use until the compositor has released the buffer.
    ///
    /// - Parameter time: Not before this time, where the compositor can wait.
    func show(_ prepared: consuming WaylandBuffers.Prepared, _ attributes: PictureAttributes, notBefore time: HostTime?) {
        if picture?.size != prepared.size || picture?.visible != prepared.visible || picture?.attributes != attributes {
            picture = (prepared.size, prepared.visible, attributes)
            needsLayout = true
        }
        film.attach(prepared)
        if needsLayout { return layOut() }
        film.setTime(time)
        unsafe wl_surface_commit(film.proxy)
    }

    /// Takes the picture away; black remains.
    func showNothing() {
        picture = nil
        film.detach()
        unsafe wl_surface_commit(film.proxy)
    }

    /// The window's size has changed since the last picture.
    var mustLayOut: Bool { needsLayout && isConfigured }

    /// Places film and black area and commits both, so that they change in the same refresh.
    func layOut() {
        needsLayout = false
        if let picture {
            let new = PictureGeometry(
                buffer: picture.size, visible: picture.visible, attributes: picture.attributes, window: size, gravity: gravity)
            unsafe wl_surface_set_buffer_transform(film.proxy, Self.transform(picture.attributes.orientation))
            unsafe wp_viewport_set_source(
                film.viewport, wl_fixed_from_double(new.source.x), wl_fixed_from_double(new.source.y),
                max(1, wl_fixed_from_double(new.source.width)), max(1, wl_fixed_from_double(new.source.height)))
            unsafe wp_viewport_set_destination(film.viewport, Int32(new.destination.width), Int32(new.destination.height))
            unsafe wl_subsurface_set_position(subsurface, Int32(new.destination.x), Int32(new.destination.y))
        }
        unsafe wl_subsurface_set_sync(subsurface)
        unsafe wl_surface_commit(film.proxy)
        if let black { unsafe wl_surface_attach(root, black.proxy, 0, 0) }
        unsafe wl_surface_damage_buffer(root, 0, 0, 1, 1)
        unsafe wp_viewport_set_destination(rootViewport, Int32(size.width), Int32(size.height))
        unsafe xdg_surface_set_window_geometry(xdgSurface, 0, 0, Int32(size.width), Int32(size.height))
        unsafe wl_surface_commit(root)
        unsafe wl_subsurface_set_desync(subsurface)
    }

    /// Wayland says how the buffer *has been* turned, counter-clockwise, and then perhaps mirrored before that.
    private static func transform(_ orientation: PictureOrientation) -> Int32 {
        Int32(orientation.rotation.rawValue / 90) + (orientation.isMirrored ? 4 : 0)
    }

    private func makeBlack() {
        if let manager = unsafe connection.singlePixel {
            unsafe black = wp_single_pixel_buffer_manager_v1_create_u32_rgba_buffer(manager, 0, 0, 0, .max).map {
                unsafe WaylandBuffer($0, size: PixelSize(width: 1, height: 1))
            }
        } else {
            // New memory is zero, and zero is black.
            let size = PixelSize(width: 1, height: 1)
            guard let use = unsafe Surface.drawn(.bgr0, size, { _, _ in }) else { return }
            black = WaylandBuffer.shared(connection, use.surface, size: size, code: 1)
            blackUse = consume use
        }
    }

    private func report() {
        let pixels = PixelSize(width: (size.width * scale120 + 60) / 120, height: (size.height * scale120 + 60) / 120)
        resized?(pixels)
    }

    private func configure(_ serial: UInt32) {
        unsafe xdg_surface_ack_configure(xdgSurface, serial)
        let old = size
        if wanted.size.width > 0, wanted.size.height > 0 { size = wanted.size } else if isConfigured || wanted.isFullscreen { size = floatingSize }
        if wanted.isResizing, gravity == .aspect { size = PictureGeometry.windowSize(shape: natural, within: size) }
        isFullscreen = wanted.isFullscreen
        isSuspended = wanted.isSuspended
        if !isFullscreen { floatingSize = size }
        let isFirst = !isConfigured
        isConfigured = true
        needsLayout = true
        if isFirst || size != old { report() }
    }

    // MARK: Listeners

    nonisolated(unsafe) private static let surfaceListener = unsafe listenerTable(
        xdg_surface_listener(configure: { data, _, serial in unsafe receiver(data, as: WaylandWindow.self).configure(serial) }))

    nonisolated(unsafe) private static let toplevelListener = unsafe listenerTable(
        xdg_toplevel_listener(
            configure: { data, _, width, height, states in
                let flags = unsafe UnsafeRawBufferPointer(start: states!.pointee.data, count: states!.pointee.size).bindMemory(to: UInt32.self)
                unsafe receiver(data, as: WaylandWindow.self).wanted = unsafe Wish(
                    size: PixelSize(width: Int(width), height: Int(height)),
                    isFullscreen: flags.contains(UInt32(XDG_TOPLEVEL_STATE_FULLSCREEN.rawValue)),
                    isResizing: flags.contains(UInt32(XDG_TOPLEVEL_STATE_RESIZING.rawValue)),
                    isSuspended: flags.contains(UInt32(XDG_TOPLEVEL_STATE_SUSPENDED.rawValue)))
            },
            close: { data, _ in unsafe receiver(data, as: WaylandWindow.self).closeRequested?() },
            configure_bounds: { data, _, width, height in
                let window = unsafe receiver(data, as: WaylandWindow.self)
                guard !window.isConfigured, width > 0, height > 0 else { return }
                window.floatingSize = PictureGeometry.windowSize(
                    natural: window.floatingSize, bounds: PixelSize(width: Int(width), height: Int(height)))
                window.size = window.floatingSize
            },
            wm_capabilities: { _, _, _ in }))

    nonisolated(unsafe) private static let decorationListener = unsafe listenerTable(
        zxdg_toplevel_decoration_v1_listener(configure: { data, _, mode in
            unsafe receiver(data, as: WaylandWindow.self).isDecorated = mode == UInt32(ZXDG_TOPLEVEL_DECORATION_V1_MODE_SERVER_SIDE.rawValue)
        }))

    nonisolated(unsafe) private static let scaleListener = unsafe listenerTable(
        wp_fractional_scale_v1_listener(preferred_scale: { data, _, scale in
            let window = unsafe receiver(data, as: WaylandWindow.self)
            guard scale > 0, window.scale120 != Int(scale) else { return }
            window.scale120 = Int(scale)
            if window.isConfigured { window.report() }
        }))
}
