package import DisplaySink
package import Media

/// What a monitor shows of the canvas that images are drawn on.
///
/// A pure value.
package struct OverlayView: Sendable, Hashable {
    /// The area that the film is fitted to on this monitor: the monitor, or the whole wall.
    package var canvas: OverlayCanvas
    /// The part of the canvas that the monitor shows.
    package var part: PixelRect

    package init(canvas: OverlayCanvas, part: PixelRect) {
        self.canvas = canvas
        self.part = part
    }

    /// Where an image that was drawn for another canvas lies on this one: at the same place of the film, but not beyond the canvas.
    package func place(of rect: PixelRect, drawnFor other: OverlayCanvas) -> PixelRect {
        guard other != canvas, other.film.width > 0, other.film.height > 0 else { return rect }
        func scaled(_ length: Int, _ from: Int, _ to: Int) -> Int { Int((Double(length) * Double(to) / Double(from)).rounded()) }
        let width = max(1, scaled(rect.width, other.film.width, canvas.film.width))
        let height = max(1, scaled(rect.height, other.film.height, canvas.film.height))
        let x = canvas.film.x + scaled(rect.x - other.film.x, other.film.width, canvas.film.width)
        let y = canvas.film.y + scaled(rect.y - other.film.y, other.film.height, canvas.film.height)
        return PixelRect(
            x: max(0, min(x, canvas.size.width - width)), y: max(0, min(y, canvas.size.height - height)), width: width, height: height)
    }

    /// An image that was drawn for some canvas, as it lies on this one.
    package func fitted(_ image: OverlayImage, drawnFor other: OverlayCanvas) -> OverlayImage {
        let place = place(of: image.place, drawnFor: other)
        return place == image.place ? image : OverlayImage(place: place, pixels: image.scaled(to: place.size))
    }
}

extension OverlayImage {
    /// The image moved by so many pixels.
    package func moved(x: Int, y: Int) -> OverlayImage {
        guard x != 0 || y != 0 else { return self }
        return OverlayImage(place: PixelRect(x: place.x + x, y: place.y + y, width: place.width, height: place.height), pixels: pixels)
    }

    /// The pixels in another size: the mean of the four nearest, weighted by their distances.
    package func scaled(to size: PixelSize) -> [UInt32] {
        guard size != place.size else { return pixels }
        let across = Self.samples(of: place.width, for: size.width), down = Self.samples(of: place.height, for: size.height)
        var result: [UInt32] = []
        result.reserveCapacity(size.width * size.height)
        for row in down {
            let upper = row.first * place.width, lower = row.second * place.width
            for column in across {
                let (a, b) = (pixels[upper + column.first], pixels[upper + column.second])
                let (c, d) = (pixels[lower + column.first], pixels[lower + column.second])
                let right = column.share, left = 256 - right, below = row.share, above = 256 - below
                func mixed(_ shift: UInt32) -> UInt32 {
                    let high = (a >> shift & 255) * left + (b >> shift & 255) * right
                    let low = (c >> shift & 255) * left + (d >> shift & 255) * right
                    return ((high * above + low * below + (1 << 15)) >> 16) << shift
                }
                result.append(mixed(24) | mixed(16) | mixed(8) | mixed(0))
            }
        }
        return result
    }

    /// For each of `count` pixels the two of `length` pixels that it lies between, and 256 times the second one's share.
    private static func samples(of length: Int, for count: Int) -> [(first: Int, second: Int, share: UInt32)] {
        (0..<count).map { index in
            let position = min(max(0, (Double(index) + 0.5) * Double(length) / Double(count) - 0.5), Double(length - 1)), first = Int(position)
            return (first, min(first + 1, length - 1), UInt32((position - Double(first)) * 256))
        }
    }
}
