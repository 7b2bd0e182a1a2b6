package import Media

/// Where images over the film lie on a monitor, and how much memory they take.
///
/// Pure decisions.
package enum OverlayPlacement {
    /// 64: display hardware takes planes and rows whose widths are multiples of so many pixels.
    private static let columns = 64
    /// 16: heights of memory are multiples of this, so that lines of text of nearly the same height share it.
    private static let rows = 16
    /// 4: memory that is larger than this many times what is needed is not kept.
    private static let excess = 4

    /// The part of the screen that a plane with these images covers: even, and not narrower than hardware takes; nil when none is on the screen.
    package static func plane(around images: [PixelRect], on screen: PixelSize) -> PixelRect? {
        var left = Int.max, top = Int.max, right = Int.min, bottom = Int.min
        for image in images.compactMap({ $0.intersection(PixelRect(screen)) }) {
            left = min(left, image.x)
            top = min(top, image.y)
            right = max(right, image.x + image.width)
            bottom = max(bottom, image.y + image.height)
        }
        guard left < right, top < bottom else { return nil }
        left -= left % 2
        top -= top % 2
        let width = min(screen.width, (right - left + columns - 1) / columns * columns)
        return PixelRect(x: min(left, screen.width - width), y: top, width: width, height: min(screen.height - top, (bottom - top + 1) / 2 * 2))
    }

    /// The size of the memory for an image: what there is, if it suffices and is not much too large.
    package static func memory(for size: PixelSize, having old: PixelSize?) -> PixelSize {
        let least = PixelSize(width: (size.width + columns - 1) / columns * columns, height: (size.height + rows - 1) / rows * rows)
        guard let old else { return least }
        let both = PixelSize(width: max(old.width, least.width), height: max(old.height, least.height))
        return both.width * both.height <= excess * least.width * least.height ? both : least
    }
}

extension PixelRect {
    /// What lies in both; nil: nothing.
    package func intersection(_ other: PixelRect) -> PixelRect? {
        let left = max(x, other.x), right = min(x + width, other.x + other.width)
        let top = max(y, other.y), bottom = min(y + height, other.y + other.height)
        return left < right && top < bottom ? PixelRect(x: left, y: top, width: right - left, height: bottom - top) : nil
    }
}
