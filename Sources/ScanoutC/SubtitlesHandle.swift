internal import CScanout
internal import Media
internal import Player

/// What `scanout_subtitles *` points to: what is on at a moment, with its strings and pixels.
@safe
final class SubtitlesHandle: Handle {
    let shown: ShownSubtitles
    private let strings = FilmStrings()
    private let pixels: SubtitlePixels?

    /// - Parameter last: The pixels that the program of this player got last; the same picture is not copied again.
    init(_ shown: ShownSubtitles, last: Monitor<SubtitlePixels?>) {
        self.shown = shown
        pixels = shown.image.map { image in
            last.withLock { last in
                if let last, last.serial == shown.serial { return last }
                let copy = SubtitlePixels(image, shown.serial)
                last = copy
                return copy
            }
        }
    }

    var info: scanout_subtitles_info {
        var info = unsafe scanout_subtitles_info()
        unsafe info.line_count = UInt32(shown.lines.count)
        unsafe (info.from, info.until) = (shown.range.start.forC, shown.range.end.forC)
        unsafe info.serial = shown.serial
        unsafe info.text = strings.pointer(to: shown.text)
        guard let place = shown.image?.place else { return unsafe info }
        unsafe info.pixels = pixels?.start
        unsafe info.pitch = UInt32(place.width * 4)
        unsafe (info.x, info.y) = (Int32(place.x), Int32(place.y))
        unsafe (info.width, info.height) = (UInt32(place.width), UInt32(place.height))
        return unsafe info
    }

    func line(_ index: Int) -> scanout_subtitle_line {
        let line = shown.lines[index]
        var result = unsafe scanout_subtitle_line()
        unsafe (result.start, result.end) = (line.start.forC, line.end.forC)
        unsafe result.text = strings.pointer(to: line.text)
        unsafe result.ass = strings.pointer(to: line.ass)
        unsafe result.style = strings.pointer(to: line.style)
        guard let place = line.place else { return unsafe result }
        unsafe result.is_image = 1
        unsafe (result.x, result.y) = (Int32(clamping: place.x), Int32(clamping: place.y))
        unsafe (result.width, result.height) = (UInt32(clamping: place.width), UInt32(clamping: place.height))
        unsafe (result.canvas_width, result.canvas_height) = (UInt32(clamping: line.canvas?.width ?? 0), UInt32(clamping: line.canvas?.height ?? 0))
        return unsafe result
    }
}

/// A picture's pixels, which stay where they are.
///
/// Thread-safety: nothing changes.
@safe
final class SubtitlePixels: Sendable {
    let serial: UInt64
    private let address: UInt

    init(_ image: SubtitleImage, _ serial: UInt64) {
        self.serial = serial
        let copy = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: image.pixels.count)
        _ = unsafe copy.initialize(fromContentsOf: image.pixels)
        address = UInt(bitPattern: copy.baseAddress)
    }

    deinit { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }

    var start: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: address) }
}

extension SubtitleCanvas {
    /// Nil for a size that nothing is drawn on. 16,384: what graphics devices draw at most; a film that is cropped may be larger.
    init?(_ canvas: scanout_canvas) {
        let most: UInt32 = 1 << 14, sides = 1...most, farthest = Int32(most) * 4
        guard sides.contains(canvas.width), sides.contains(canvas.height), canvas.reserved == 0 else { return nil }
        self.init(PixelSize(width: Int(canvas.width), height: Int(canvas.height)))
        guard canvas.film_width != 0 || canvas.film_height != 0 else { return }
        guard (1...most * 4).contains(canvas.film_width), (1...most * 4).contains(canvas.film_height),
            (-farthest...farthest).contains(canvas.film_x), (-farthest...farthest).contains(canvas.film_y)
        else { return nil }
        film = PixelRect(x: Int(canvas.film_x), y: Int(canvas.film_y), width: Int(canvas.film_width), height: Int(canvas.film_height))
    }
}
