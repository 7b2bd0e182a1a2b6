internal import CASS
internal import DisplaySink
internal import Media

/// How libass is set up here, and how what it draws becomes an image over the film.
enum ASSImages {
    /// 64 MiB of drawn letters, 1,000 outlines: what libass keeps.
    private static let cacheMegabytes: Int32 = 64, cachedGlyphs: Int32 = 1000

    /// A renderer with the system's fonts; nil when there is no memory. Finding the fonts takes up to some 100 ms.
    static func renderer(_ library: OpaquePointer) -> OpaquePointer? {
        guard let made = unsafe ass_renderer_init(library) else { return nil }
        unsafe ass_set_hinting(made, ASS_HINTING_NONE)
        unsafe ass_set_cache_limits(made, cachedGlyphs, cacheMegabytes)
        unsafe ass_set_fonts(made, nil, "sans-serif", Int32(ASS_FONTPROVIDER_AUTODETECT.rawValue), nil, 1)
        return unsafe made
    }

    /// A list of images as one; nil: nothing of it lies on the canvas.
    static func image(_ first: UnsafeMutablePointer<ASS_Image>, on canvas: OverlayCanvas) -> OverlayImage? {
        var places: [PixelRect] = []
        unsafe visit(first) { _, place in places.append(place) }
        guard var drawing = OverlayDrawing(around: places, on: canvas) else { return nil }
        unsafe visit(first) { image, place in
            unsafe drawing.fill(place, coverage: image.bitmap, pitch: Int(image.stride), color: image.color)
        }
        return drawing.image()
    }

    private static func visit(_ first: UnsafeMutablePointer<ASS_Image>, _ body: (ASS_Image, PixelRect) -> Void) {
        var next: UnsafeMutablePointer<ASS_Image>? = unsafe first
        while let image = unsafe next {
            let place = unsafe PixelRect(
                x: Int(image.pointee.dst_x), y: Int(image.pointee.dst_y), width: Int(image.pointee.w), height: Int(image.pointee.h))
            // The last byte of a color says how transparent it is.
            let isSeen = unsafe image.pointee.color & 0xff < 0xff
            if place.width > 0, place.height > 0, isSeen { unsafe body(image.pointee, place) }
            unsafe next = unsafe image.pointee.next
        }
    }
}
