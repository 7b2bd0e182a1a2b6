internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import SurfacePool

/// The window: a black surface of the size that the compositor chooses, and the film on a subsurface, which the compositor places and scales. What
/// lies over the film is on a subsurface of the film's, so that it changes with the film's commits.
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
    /// The lower one shows subtitles, the other one what tells the viewer of the player. Made with the first image.
    private var overlays: (film: OverlaySurface, screen: OverlaySurface)?
    private let subsurface: OpaquePointer
    private var decoration, inhibitor, fractional: OpaquePointer?
    private var black: WaylandBuffer?
    private var blackUse: SurfaceUse?

    /// The compositor's last configuration of the window.
    private struct Wish {
        var size = PixelSize(width: 0, height: 0)
        var isFullscreen = false
        /// The user drags an edge: `size` is the maximum.
        var isResizing = false
        var isSuspended = false
    }

    /// 160 × 90: the film cannot be followed in a smaller window.
    private static let leastSize: (Int32, Int32) = (160, 90)
    /// 16: presses this close to an edge resize the window.
    private static let edge = 16.0
    private let natural: PixelSize
    /// The size when the compositor leaves it to the client.
    private var floatingSize: PixelSize
    private var wanted = Wish()
    /// In surface coordinates.
    private(set) var size: PixelSize
    private(set) var isFullscreen = false
    private(set) var isConfigured = false
    /// The compositor reports that the window is not visible.
    private(set) var isSuspended = false
    /// The compositor draws the window's decorations.
    private(set) var isDecorated = false
    private var scale120 = 120
    private var needsLayout = true
    private var content: (size: PixelSize, visible: PixelRect, attributes: FrameAttributes)?
    /// There have been two commits of the window. At the second one Weston's shell places a window that began in full screen, by the film's new place
    /// and its old size, so that a change of both would move the window.
    private var isPlaced = false
    /// How the frame was last laid out.
    private var geometry: FrameGeometry?
    /// How the frame was turned when it was attached.
    private var orientation: FrameOrientation?
    private var overlayImages: (film: OverlayImage?, screen: OverlayImage?)
    var framing: Framing { didSet { needsLayout = needsLayout || framing != oldValue } }

    /// Called with the new size in pixels, and when the user closes the window.
    var resized: ((PixelSize) -> Void)?
    var closeRequested: (() -> Void)?

    /// Creates the window. It appears when it is `isConfigured` and has a frame.
    ///
    /// - Parameter natural: The film's size in square pixels.
    init?(_ connection: WaylandConnection, natural: PixelSize, title: String, framing: Framing, isFullscreen: Bool) {
        self.connection = connection
        self.framing = framing
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
        floatingSize = FrameGeometry.windowSize(natural: natural, bounds: bounds)
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
        unsafe xdg_toplevel_set_app_id(toplevel, "scanout")
        unsafe xdg_toplevel_set_min_size(toplevel, Self.leastSize.0, Self.leastSize.1)
        setTitle(title)
        // Before the first commit, so that the window appears in full screen at once.
        if isFullscreen { setFullscreen(true) }
        makeBlack()
        // The first commit has no buffer; it requests the first configure event.
        unsafe wl_surface_commit(root)
    }

    /// Destroys everything except the buffers that were attached.
    func destroy() {
        setInhibiting(false)
        if let decoration = unsafe decoration { unsafe zxdg_toplevel_decoration_v1_destroy(decoration) }
        if let fractional = unsafe fractional { unsafe wp_fractional_scale_v1_destroy(fractional) }
        overlays?.screen.destroy()
        overlays?.film.destroy()
        unsafe wl_subsurface_destroy(subsurface)
        film.destroy()
        unsafe wp_viewport_destroy(rootViewport)
        unsafe xdg_toplevel_destroy(toplevel)
        unsafe xdg_surface_destroy(xdgSurface)
        unsafe wl_surface_destroy(root)
        black = nil
        blackUse = nil
    }

    // MARK: Requests

    /// A message of more than 4 KiB would end the connection; nobody reads so much in a title.
    func setTitle(_ title: String) { unsafe xdg_toplevel_set_title(toplevel, title.printable(byteLimit: 1024)) }

    func setFullscreen(_ isFullscreen: Bool) {
        if isFullscreen { unsafe xdg_toplevel_set_fullscreen(toplevel, nil) } else { unsafe xdg_toplevel_unset_fullscreen(toplevel) }
    }

    /// Prevents the screen from going idle while `isInhibiting`.
    func setInhibiting(_ isInhibiting: Bool) {
        if isInhibiting, unsafe inhibitor == nil, let manager = unsafe connection.idleInhibit {
            unsafe inhibitor = unsafe zwp_idle_inhibit_manager_v1_create_inhibitor(manager, root)
        } else if !isInhibiting, let old = unsafe inhibitor {
            unsafe zwp_idle_inhibitor_v1_destroy(old)
            unsafe inhibitor = nil
        }
    }

    /// Moves the window with a drag, or resizes it when the drag begins at an edge, like the decorations of other windows.
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

    // MARK: The frame

    /// Shows a frame's buffer from the next refresh on, keeping its use until the compositor has released the buffer.
    ///
    /// - Parameters:
    ///   - image: What lies over it.
    ///   - screen: What lies over both.
    ///   - time: The earliest presentation time, if the compositor supports it.
    func show(
        _ prepared: consuming WaylandBuffers.Prepared, _ attributes: FrameAttributes, _ image: OverlayImage?, _ screen: OverlayImage?,
        notBefore time: HostTime?
    ) {
        if content?.size != prepared.size || content?.visible != prepared.visible || content?.attributes != attributes {
            content = (prepared.size, prepared.visible, attributes)
            needsLayout = true
        }
        film.attach(prepared)
        overlayImages = (image, screen)
        if needsLayout { return layOut() }
        showOverlay()
        film.setTime(time)
        unsafe wl_surface_commit(film.proxy)
    }

    /// Shows the same frame again, turned and with colours as is wanted now.
    func showAgain(_ prepared: consuming WaylandBuffers.Prepared, _ attributes: FrameAttributes) {
        content = (prepared.size, prepared.visible, attributes)
        film.attach(prepared)
        layOut()
    }

    /// Whether the frame must be attached again before the next layout.
    var mustTurn: Bool {
        guard let content, isConfigured else { return false }
        return framing.applied(to: content.visible, content.attributes).attributes.orientation != orientation
    }

    /// Changes what lies over the frame that is shown; see `mustLayOut`.
    func changeOverlay(_ image: OverlayImage?, _ screen: OverlayImage?) {
        guard image !== overlayImages.film || screen !== overlayImages.screen else { return }
        overlayImages = (image, screen)
        needsLayout = true
    }

    private func showOverlay() {
        if overlays == nil, overlayImages.film != nil || overlayImages.screen != nil,
            // The later one lies over the earlier one.
            let lower = unsafe OverlaySurface(connection, over: film.proxy), let upper = unsafe OverlaySurface(connection, over: film.proxy)
        {
            overlays = (lower, upper)
        }
        guard let overlays, let geometry else { return }
        let origin = (x: geometry.destination.x, y: geometry.destination.y)
        overlays.film.show(overlayImages.film, filmAt: origin, scale120: scale120)
        overlays.screen.show(overlayImages.screen, filmAt: origin, scale120: scale120)
    }

    /// What images over the film are drawn for; nil before the first frame.
    var canvas: OverlayCanvas? {
        guard let place = geometry?.destination else { return nil }
        func pixels(_ length: Int) -> Int { (length * scale120 + 60) / 120 }
        let left = pixels(place.x), top = pixels(place.y)
        return OverlayCanvas(
            size: PixelSize(width: pixels(size.width), height: pixels(size.height)),
            film: PixelRect(x: left, y: top, width: pixels(place.x + place.width) - left, height: pixels(place.y + place.height) - top),
            step: OverlaySurface.step(scale120))
    }

    /// A place in the window's coordinates, in pixels of the canvas.
    func pixels(_ place: (x: Double, y: Double)) -> (x: Double, y: Double) {
        (place.x * Double(scale120) / 120, place.y * Double(scale120) / 120)
    }

    /// Removes the frame, so that the window is black.
    func showNothing() {
        content = nil
        overlayImages = (nil, nil)
        film.detach()
        unsafe wl_surface_commit(film.proxy)
    }

    /// The layout must be updated before the next frame.
    var mustLayOut: Bool { needsLayout && isConfigured && !mustTurn }

    /// Places the film and the black surface, and commits both so that they change at the same refresh.
    func layOut() {
        needsLayout = false
        if let content {
            let (visible, attributes) = framing.applied(to: content.visible, content.attributes)
            let new = FrameGeometry(buffer: content.size, visible: visible, attributes: attributes, window: size, framing: framing)
            unsafe wl_surface_set_buffer_transform(film.proxy, Self.transform(attributes.orientation))
            orientation = attributes.orientation
            // Edges are rounded, not lengths: what ends behind the buffer's end is a protocol error.
            let left = wl_fixed_from_double(new.source.x), top = wl_fixed_from_double(new.source.y)
            unsafe wp_viewport_set_source(
                film.viewport, left, top, max(1, wl_fixed_from_double(new.source.x + new.source.width) - left),
                max(1, wl_fixed_from_double(new.source.y + new.source.height) - top))
            unsafe wp_viewport_set_destination(film.viewport, Int32(new.destination.width), Int32(new.destination.height))
            unsafe wl_subsurface_set_position(subsurface, Int32(new.destination.x), Int32(new.destination.y))
            geometry = new
            showOverlay()
        }
        unsafe wl_subsurface_set_sync(subsurface)
        unsafe wl_surface_commit(film.proxy)
        if let black { unsafe wl_surface_attach(root, black.proxy, 0, 0) }
        unsafe wl_surface_damage_buffer(root, 0, 0, 1, 1)
        unsafe wp_viewport_set_destination(rootViewport, Int32(size.width), Int32(size.height))
        unsafe xdg_surface_set_window_geometry(xdgSurface, 0, 0, Int32(size.width), Int32(size.height))
        unsafe wl_surface_commit(root)
        if !isPlaced { unsafe wl_surface_commit(root) }
        isPlaced = true
        unsafe wl_subsurface_set_desync(subsurface)
    }

    /// The buffer transform: the counter-clockwise rotation that the buffer content already has, and whether it was mirrored before.
    private static func transform(_ orientation: FrameOrientation) -> Int32 {
        Int32(orientation.rotation.rawValue / 90) + (orientation.isMirrored ? 4 : 0)
    }

    private func makeBlack() {
        if let manager = unsafe connection.singlePixel {
            unsafe black = wp_single_pixel_buffer_manager_v1_create_u32_rgba_buffer(manager, 0, 0, 0, .max).map {
                unsafe WaylandBuffer($0, size: PixelSize(width: 1, height: 1))
            }
        } else {
            // Pixman copies the unused byte to the screen, where a screenshot takes it for alpha: 0 would be a hole.
            let size = PixelSize(width: 1, height: 1)
            guard let use = unsafe Surface.drawn(.bgr0, size, { bytes, _ in unsafe bytes[3] = .max }) else { return }
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
        if wanted.isResizing, framing.gravity == .aspect { size = FrameGeometry.windowSize(shape: natural, within: size) }
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
                window.floatingSize = FrameGeometry.windowSize(
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
