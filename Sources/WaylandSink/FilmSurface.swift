internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media
internal import SurfacePool

/// The surface that shows the film, with everything that is set per frame: colors, presentation time and synchronization.
///
/// All requests take effect at the next commit, which the window makes.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class FilmSurface {
    private let connection: WaylandConnection
    let proxy, viewport: OpaquePointer
    private var contentType, tearing, fifo, timer: OpaquePointer?
    private var colorRepresentation, colorSurface, explicitSync: OpaquePointer?
    /// The colors that are set on the surface.
    private var colors = WaylandFormats.Colors()

    init?(_ connection: WaylandConnection) {
        guard let proxy = unsafe wl_compositor_create_surface(connection.compositor),
            let viewport = unsafe wp_viewporter_get_viewport(connection.viewporter, proxy)
        else { return nil }
        self.connection = connection
        unsafe (self.proxy, self.viewport) = unsafe (proxy, viewport)
        // Without an input region, the window gets the input.
        let nowhere = unsafe wl_compositor_create_region(connection.compositor)
        unsafe wl_surface_set_input_region(proxy, nowhere)
        unsafe wl_region_destroy(nowhere)
        // The film is opaque, whatever its format, so the compositor need not draw what is behind it.
        let everywhere = unsafe wl_compositor_create_region(connection.compositor)
        unsafe wl_region_add(everywhere, 0, 0, .max, .max)
        unsafe wl_surface_set_opaque_region(proxy, everywhere)
        unsafe wl_region_destroy(everywhere)
        if let manager = unsafe connection.contentType, let made = unsafe wp_content_type_manager_v1_get_surface_content_type(manager, proxy) {
            unsafe contentType = made
            unsafe wp_content_type_v1_set_content_type(made, UInt32(WP_CONTENT_TYPE_V1_TYPE_VIDEO.rawValue))
        }
        if let manager = unsafe connection.tearing, let made = unsafe wp_tearing_control_manager_v1_get_tearing_control(manager, proxy) {
            unsafe tearing = made
            unsafe wp_tearing_control_v1_set_presentation_hint(made, UInt32(WP_TEARING_CONTROL_V1_PRESENTATION_HINT_VSYNC.rawValue))
        }
        if let manager = unsafe connection.fifo { unsafe fifo = wp_fifo_manager_v1_get_fifo(manager, proxy) }
        if let manager = unsafe connection.commitTiming { unsafe timer = wp_commit_timing_manager_v1_get_timer(manager, proxy) }
    }

    /// Destroys everything except the buffers that were attached.
    func destroy() {
        if let contentType = unsafe contentType { unsafe wp_content_type_v1_destroy(contentType) }
        if let tearing = unsafe tearing { unsafe wp_tearing_control_v1_destroy(tearing) }
        if let fifo = unsafe fifo { unsafe wp_fifo_v1_destroy(fifo) }
        if let timer = unsafe timer { unsafe wp_commit_timer_v1_destroy(timer) }
        setColors(WaylandFormats.Colors())
        setExplicit(false)
        unsafe wp_viewport_destroy(viewport)
        unsafe wl_surface_destroy(proxy)
    }

    /// Attaches a frame's buffer, keeping its use until the compositor has released it.
    func attach(_ prepared: consuming WaylandBuffers.Prepared) {
        if prepared.colors != colors { setColors(prepared.colors) }
        let buffer = prepared.buffer, size = prepared.size
        setExplicit(buffer.timeline != nil)
        unsafe buffer.attach(to: proxy, keeping: prepared.use, explicit: explicitSync)
        unsafe wl_surface_damage_buffer(proxy, 0, 0, Int32(size.width), Int32(size.height))
    }

    /// Removes the frame.
    func detach() { unsafe wl_surface_attach(proxy, nil, 0, 0) }

    /// Sets a FIFO barrier and the earliest presentation time (CLOCK_MONOTONIC) for the next commit, so that it does not replace an older frame and
    /// is not shown early.
    func setTime(_ time: HostTime?) {
        if let fifo = unsafe fifo {
            unsafe wp_fifo_v1_wait_barrier(fifo)
            unsafe wp_fifo_v1_set_barrier(fifo)
        }
        if let timer = unsafe timer, let time, time.nanoseconds > 0, connection.presentationClock == CLOCK_MONOTONIC {
            let seconds = UInt64(time.nanoseconds / 1_000_000_000)
            unsafe wp_commit_timer_v1_set_timestamp(
                timer, UInt32(seconds >> 32), UInt32(truncatingIfNeeded: seconds), UInt32(time.nanoseconds % 1_000_000_000))
        }
    }

    // MARK: Colors and synchronization

    private func setColors(_ new: WaylandFormats.Colors) {
        if new.representation != colors.representation || new.chromaLocation != colors.chromaLocation { setRepresentation(new) }
        if new.imageDescription != colors.imageDescription { setImageDescription(new.imageDescription) }
        colors = new
    }

    /// Sets matrix, range and chroma siting. They can be unset only by destroying the object that set them.
    private func setRepresentation(_ new: WaylandFormats.Colors) {
        if let old = unsafe colorRepresentation { unsafe wp_color_representation_surface_v1_destroy(old) }
        unsafe colorRepresentation = nil
        guard let representation = new.representation, let manager = unsafe connection.colorRepresentation,
            let made = unsafe wp_color_representation_manager_v1_get_surface(manager, proxy)
        else { return }
        unsafe colorRepresentation = made
        unsafe wp_color_representation_surface_v1_set_coefficients_and_range(made, representation.coefficients, representation.range)
        if let location = new.chromaLocation { unsafe wp_color_representation_surface_v1_set_chroma_location(made, location) }
    }

    private func setImageDescription(_ imageDescription: WaylandFormats.ImageDescription?) {
        if let imageDescription, let description = unsafe connection.colorManagement?.description(of: imageDescription, connection) {
            if unsafe colorSurface == nil { unsafe colorSurface = connection.colorManagement?.surface(proxy) }
            guard let surface = unsafe colorSurface else { return }
            unsafe wp_color_management_surface_v1_set_image_description(
                surface, description, UInt32(WP_COLOR_MANAGER_V1_RENDER_INTENT_PERCEPTUAL.rawValue))
            return
        }
        if let imageDescription {
            let what = imageDescription.isHDR ? "high dynamic range" : "wide primaries"
            connection.report?("the compositor does not support the film's \(what) and shows it as standard dynamic range with BT.709 primaries")
        }
        if let old = unsafe colorSurface { unsafe wp_color_management_surface_v1_destroy(old) }
        unsafe colorSurface = nil
    }

    /// A surface with a synchronization object needs points at every commit, so it has none for buffers without a timeline.
    private func setExplicit(_ isExplicit: Bool) {
        if isExplicit, unsafe explicitSync == nil, let sync = connection.explicitSync {
            unsafe explicitSync = wp_linux_drm_syncobj_manager_v1_get_surface(sync.manager, proxy)
        } else if !isExplicit, let old = unsafe explicitSync {
            unsafe wp_linux_drm_syncobj_surface_v1_destroy(old)
            unsafe explicitSync = nil
        }
    }
}
