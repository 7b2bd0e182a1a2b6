package import Media

/// A drawn image that lies over the film, such as a subtitle.
///
/// Thread-safety: nothing changes. Its identity says whether two are the same.
package final class OverlayImage: Sendable {
    /// Where it lies on the canvas that it was drawn for, in pixels of the display.
    package let place: PixelRect
    /// Row by row from the top: alpha, red, green and blue from the highest byte to the lowest, premultiplied.
    package let pixels: [UInt32]

    package init(place: PixelRect, pixels: [UInt32]) {
        precondition(place.width > 0 && place.height > 0 && pixels.count == place.width * place.height, "an image has all its pixels")
        self.place = place
        self.pixels = pixels
    }
}

/// What an overlay is drawn on: the window or the monitor, in its own pixels.
///
/// Thread-safety: a value.
package struct OverlayCanvas: Sendable, Hashable {
    /// The whole window or monitor.
    package var size: PixelSize
    /// Where the film lies. Where it is cropped to fill the canvas, this is larger than the canvas.
    package var film: PixelRect
    /// Places and sizes of images must be multiples of this many pixels.
    package var step: Int

    package init(size: PixelSize, film: PixelRect, step: Int = 1) {
        self.size = size
        self.film = film
        self.step = max(1, step)
    }

    /// The smallest rectangle of allowed place and size around `rect`.
    package func aligned(_ rect: PixelRect) -> PixelRect {
        guard step > 1 else { return rect }
        func down(_ value: Int) -> Int { value >= 0 ? value / step * step : -((-value + step - 1) / step * step) }
        let left = down(rect.x), top = down(rect.y)
        return PixelRect(
            x: left, y: top, width: -down(-(rect.x + rect.width)) - left, height: -down(-(rect.y + rect.height)) - top)
    }
}

/// Draws what lies over the film, ahead of the frames. See `PresentationQueue.overlay`.
///
/// Thread-safety: any thread. No call blocks; nothing is drawn in one.
package protocol OverlaySource: AnyObject, Sendable {
    /// The canvas, whenever it differs from the one before.
    func setCanvas(_ canvas: OverlayCanvas)
    /// A frame of this time has been queued, so that its overlay is needed soon.
    func expect(_ time: MediaTime)
    /// The overlay of the frame of this time; nil: nothing lies over it. While it is not drawn yet, the answer is the one before, and
    /// `PresentationQueue.overlayChanged` follows.
    func image(at time: MediaTime) -> OverlayImage?
}

/// What the viewer does over the film with a pointer or a finger. Places are pixels of the canvas.
package enum PointerEvent: Sendable, Hashable {
    case moved(x: Double, y: Double)
    case pressed(x: Double, y: Double)
    case released

    /// The same at another place.
    package func mapped(_ transform: ((x: Double, y: Double)) -> (x: Double, y: Double)) -> PointerEvent {
        switch self {
        case .moved(let x, let y):
            let place = transform((x, y))
            return .moved(x: place.x, y: place.y)
        case .pressed(let x, let y):
            let place = transform((x, y))
            return .pressed(x: place.x, y: place.y)
        case .released: return .released
        }
    }
}

/// Draws what tells the viewer of the player, whatever frame is shown: messages, a bar. It lies over the film and its subtitles. See
/// `PresentationQueue.screen`.
///
/// Thread-safety: any thread. No call blocks; nothing is drawn in one.
package protocol ScreenSource: AnyObject, Sendable {
    /// The canvas, whenever it differs from the one before.
    func setCanvas(_ canvas: OverlayCanvas)
    /// What is shown now; nil: nothing. `PresentationQueue.overlayChanged` follows when it changes.
    var image: OverlayImage? { get }
    /// The pointer or a finger has done this. True: it is for what is drawn there, not for the window.
    func follow(_ event: PointerEvent) -> Bool
}
