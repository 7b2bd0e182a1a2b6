package import Media

/// Pixels of an overlay while it is being drawn.
///
/// Thread-safety: a value.
package struct OverlayDrawing: Sendable {
    /// On the canvas.
    package let place: PixelRect
    /// Alpha, red, green and blue, premultiplied.
    package private(set) var pixels: [UInt32]

    /// Everything is transparent; nil when nothing of `rects` lies on the canvas.
    package init?(around rects: [PixelRect], on canvas: OverlayCanvas) {
        var left = Int.max, top = Int.max, right = Int.min, bottom = Int.min
        for rect in rects where rect.width > 0 && rect.height > 0 {
            left = min(left, rect.x)
            top = min(top, rect.y)
            right = max(right, rect.x + rect.width)
            bottom = max(bottom, rect.y + rect.height)
        }
        (left, top, right, bottom) = (max(0, left), max(0, top), min(canvas.size.width, right), min(canvas.size.height, bottom))
        guard left < right, top < bottom else { return nil }
        place = canvas.aligned(PixelRect(x: left, y: top, width: right - left, height: bottom - top))
        pixels = Array(repeating: 0, count: place.width * place.height)
    }

    package consuming func image() -> OverlayImage { OverlayImage(place: place, pixels: pixels) }

    /// Draws a shape in one color: `coverage` holds a byte for each pixel of `rect`, `pitch` bytes from one row to the next.
    ///
    /// - Parameter color: Red, green, blue and *transparency*, as libass gives it.
    package mutating func fill(_ rect: PixelRect, coverage: UnsafePointer<UInt8>, pitch: Int, color: UInt32) {
        let opacity = 255 - color & 255, red = color >> 24, green = color >> 16 & 255, blue = color >> 8 & 255
        guard opacity > 0 else { return }
        unsafe draw(rect) { (pixels: UnsafeMutablePointer<UInt32>, column, row, count) in
            let covers = unsafe coverage + row * pitch + column
            for index in 0..<count {
                let cover = unsafe UInt32(covers[index])
                if cover == 0 { continue }
                let alpha = (cover * opacity + 127) / 255, rest = 255 - alpha, old = unsafe pixels[index]
                func mixed(_ value: UInt32, _ shift: UInt32) -> UInt32 { ((value * alpha + (old >> shift & 255) * rest + 127) / 255) << shift }
                unsafe pixels[index] = mixed(255, 24) | mixed(red, 16) | mixed(green, 8) | mixed(blue, 0)
            }
        }
    }

    /// Draws premultiplied pixels, row by row without padding.
    package mutating func lay(_ rect: PixelRect, pixels source: [UInt32]) {
        precondition(source.count == rect.width * rect.height, "an image has all its pixels")
        unsafe source.withUnsafeBufferPointer { source in
            unsafe draw(rect) { (pixels: UnsafeMutablePointer<UInt32>, column, row, count) in
                for index in 0..<count {
                    let new = unsafe source[row * rect.width + column + index]
                    if new != 0 { unsafe pixels[index] = Self.mixed(new, over: pixels[index]) }
                }
            }
        }
    }

    /// A premultiplied pixel over another.
    package static func mixed(_ new: UInt32, over old: UInt32) -> UInt32 {
        let rest = 255 - new >> 24
        func mixed(_ shift: UInt32) -> UInt32 { min(255, (new >> shift & 255) + ((old >> shift & 255) * rest + 127) / 255) << shift }
        return mixed(24) | mixed(16) | mixed(8) | mixed(0)
    }

    /// Calls `body` for each row of the part of `rect` that lies here: with its first pixel, that pixel's column and row in `rect`, and the count.
    private mutating func draw(_ rect: PixelRect, _ body: (UnsafeMutablePointer<UInt32>, _ column: Int, _ row: Int, _ count: Int) -> Void) {
        let left = max(rect.x, place.x), right = min(rect.x + rect.width, place.x + place.width)
        let top = max(rect.y, place.y), bottom = min(rect.y + rect.height, place.y + place.height)
        guard left < right, top < bottom else { return }
        let place = place
        unsafe pixels.withUnsafeMutableBufferPointer { pixels in
            for y in top..<bottom {
                unsafe body(pixels.baseAddress! + (y - place.y) * place.width + left - place.x, left - rect.x, y - rect.y, right - left)
            }
        }
    }
}
