internal import DisplaySink
internal import Media

/// What lies over the film at some moment.
struct FilmCover: Equatable {
    /// Subtitles.
    var image: OverlayImage?
    /// What tells the viewer of the player.
    var screen: OverlayImage?
    /// What both were drawn for.
    var canvas: OverlayCanvas

    var isEmpty: Bool { image == nil && screen == nil }

    /// The lowest first.
    var images: [OverlayImage] { [image, screen].compactMap(\.self) }

    static func == (one: FilmCover, other: FilmCover) -> Bool {
        one.image === other.image && one.screen === other.screen && (one.isEmpty || one.canvas == other.canvas)
    }
}

/// An image on a plane above the film's.
struct PlaneOverlay {
    /// What a commit sets beside the framebuffer, and the device may refuse.
    struct Configuration: Hashable {
        var place: OverlayPlaneSelection.Place
        /// On the screen. The image is shown as large as it is.
        var destination: PixelRect
    }

    var configuration: Configuration
    var drawn: DrawnImage
}

/// Draws what lies over the film on one monitor, into the display device's memory.
///
/// Only the part of the screen that is not transparent is drawn, and only when it changes. Memory is reused once no commit shows it.
///
/// Thread-safety: belongs to the device's thread.
final class KMSOverlay {
    /// 4: on the screen, committed for the next refresh, drawn for a commit that the device refused, and being drawn.
    private static let most = 4

    private let device: KMSDevice
    private var pool: DrawingPool?
    /// What was drawn last.
    private var last: (cover: FilmCover, view: OverlayView, drawn: DrawnImage, destination: PixelRect)?

    init(_ device: KMSDevice) { self.device = device }

    /// The image for a monitor, and its place on the screen; nil: nothing lies over the part of the film that the monitor shows.
    func draw(_ cover: FilmCover, _ view: OverlayView) throws(SystemError) -> (drawn: DrawnImage, destination: PixelRect)? {
        if let last, last.cover == cover, last.view == view { return (last.drawn, last.destination) }
        last = nil
        let screen = view.part.size, images = Self.images(cover, view)
        guard let destination = OverlayPlacement.plane(around: images.map(\.place), on: screen),
            var drawing = OverlayDrawing(around: [destination], on: OverlayCanvas(size: screen, film: PixelRect(screen)))
        else { return nil }
        for image in images { drawing.lay(image.place, pixels: image.pixels) }
        let pixels = drawing.pixels, rowBytes = destination.width * 4
        let drawn = try unsafe memory(for: destination.size).draw { base, pitch in
            unsafe pixels.withUnsafeBytes { bytes in
                for row in 0..<destination.height {
                    unsafe (base + row * pitch).copyMemory(from: bytes.baseAddress! + row * rowBytes, byteCount: rowBytes)
                }
            }
            return true
        }
        guard let drawn else { return nil }
        last = (cover, view, drawn, destination)
        return (drawn, destination)
    }

    /// Nothing lies over the film now. Memory is kept for the next image.
    func clear() { last = nil }

    /// The images over the film, the lowest first, on the screen.
    private static func images(_ cover: FilmCover, _ view: OverlayView) -> [OverlayImage] {
        cover.images.map { view.fitted($0, drawnFor: cover.canvas).moved(x: -view.part.x, y: -view.part.y) }
    }

    private func memory(for size: PixelSize) throws(SystemError) -> DrawingPool {
        let wanted = OverlayPlacement.memory(for: size, having: pool?.size)
        if let pool, pool.size == wanted { return pool }
        // Images in the old memory live until no commit shows them.
        let new = try DrawingPool(device, size: wanted, format: .bgra, count: Self.most)
        pool = new
        return new
    }
}
