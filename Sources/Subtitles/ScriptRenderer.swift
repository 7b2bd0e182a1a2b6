internal import CASS
package import DisplaySink
internal import Media

/// Draws whole scripts of the program's own, as libass draws subtitles.
///
/// Finding the system's fonts takes up to some 100 ms, once, when the first script is drawn.
///
/// Thread-safety: none; one thread. The corresponding C function is `ass_read_memory`.
@safe
package final class ScriptRenderer {
    private let library: OpaquePointer
    private var renderer: OpaquePointer?

    /// Nil when there is no memory.
    package init?() {
        guard LateLibrary.missing("ass") == nil, let library = unsafe cass_library() else { return nil }
        unsafe self.library = unsafe library
    }

    deinit {
        if let renderer = unsafe renderer { unsafe ass_renderer_done(renderer) }
        unsafe ass_library_done(library)
    }

    /// What a script in ASS shows at its beginning; nil: nothing. Its coordinates are pixels of the canvas if it says so (`PlayResX`, `PlayResY`).
    package func image(_ script: String, on canvas: OverlayCanvas) -> OverlayImage? {
        if unsafe renderer == nil { unsafe renderer = ASSImages.renderer(library) }
        guard let renderer = unsafe renderer else { return nil }
        var bytes = Array(script.utf8)
        let track = unsafe bytes.withUnsafeMutableBytes { bytes -> UnsafeMutablePointer<ASS_Track>? in
            guard let base = bytes.baseAddress else { return nil }
            return unsafe ass_read_memory(library, base.assumingMemoryBound(to: CChar.self), bytes.count, nil)
        }
        guard let track = unsafe track else { return nil }
        defer { unsafe ass_free_track(track) }
        unsafe ass_set_frame_size(renderer, Int32(canvas.size.width), Int32(canvas.size.height))
        unsafe ass_set_storage_size(renderer, Int32(canvas.size.width), Int32(canvas.size.height))
        guard let first = unsafe ass_render_frame(renderer, track, 0, nil) else { return nil }
        return unsafe ASSImages.image(first, on: canvas)
    }
}
