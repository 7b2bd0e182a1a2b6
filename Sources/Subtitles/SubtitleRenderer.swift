internal import CASS
internal import Demuxing
internal import DisplaySink
internal import Media

/// Lays text out and draws it with libass.
///
/// Finding the system's fonts takes up to some 100 ms, once, when the first text is drawn.
///
/// Thread-safety: none; one thread. The corresponding C types are `ASS_Library` and `ASS_Renderer`.
@safe
final class SubtitleRenderer {
    let library: OpaquePointer
    private var renderer: OpaquePointer?
    /// The size of the film's frames as they are coded, which styled scripts count in; 0 by 0 when unknown.
    private var storage = PixelSize(width: 0, height: 0)

    /// Nil when there is no memory.
    init?() {
        guard LateLibrary.missing("ass") == nil, let library = unsafe cass_library() else { return nil }
        unsafe self.library = unsafe library
    }

    /// Finds the system's fonts now. False when there is no memory.
    func prepare() -> Bool { unsafe prepared() != nil }

    /// Draws for a film from now on, with its fonts.
    func take(_ film: SubtitleEngine.Film) {
        storage = film.storage
        for font in film.fonts {
            unsafe font.bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                // libass copies both.
                unsafe ass_add_font(library, font.name, UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: CChar.self)), Int32(bytes.count))
            }
        }
    }

    deinit {
        if let renderer = unsafe renderer { unsafe ass_renderer_done(renderer) }
        unsafe ass_library_done(library)
    }

    /// What `track` shows at `time`, in milliseconds; nil: nothing.
    func image(_ track: TextTrack, at time: Int64, on canvas: OverlayCanvas, _ settings: SubtitleSettings) -> OverlayImage? {
        guard let renderer = unsafe prepared() else { return nil }
        let film = canvas.film, size = canvas.size
        unsafe ass_set_frame_size(renderer, Int32(size.width), Int32(size.height))
        unsafe ass_set_storage_size(renderer, Int32(storage.width), Int32(storage.height))
        unsafe ass_set_margins(
            renderer, Int32(film.y), Int32(size.height - film.y - film.height), Int32(film.x), Int32(size.width - film.x - film.width))
        unsafe ass_set_use_margins(renderer, track.form == .plain ? 1 : 0)
        var scale = settings.scale
        // Plain text has the size that suits the window; libass counts in heights of the film.
        if track.form == .plain { scale *= Double(size.height) / Double(max(1, film.height)) }
        unsafe ass_set_font_scale(renderer, scale)
        unsafe ass_set_line_position(renderer, 100 - settings.position)
        guard let first = unsafe ass_render_frame(renderer, track.track, time, nil) else { return nil }
        return unsafe ASSImages.image(first, on: canvas)
    }

    private func prepared() -> OpaquePointer? {
        if let renderer = unsafe renderer { return unsafe renderer }
        unsafe renderer = ASSImages.renderer(library)
        return unsafe renderer
    }
}
