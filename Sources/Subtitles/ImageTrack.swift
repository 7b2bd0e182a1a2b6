internal import CSwscale
internal import DisplaySink
internal import Media

/// The images of one track of PGS, VobSub or DVB subtitles.
///
/// Thread-safety: none; one thread.
@safe
final class ImageTrack {
    /// 64 MiB: some minutes of full frames, hours of dialogue. The images that were read first are dropped.
    private static let mostBytes = 64 << 20

    /// By their starts.
    private var events: [ImageEvent] = []
    private var byteCount = 0
    /// The size of the film's frames as they are coded.
    private let storage: PixelSize

    /// Blu-ray's images keep their shape; others are stretched with the film.
    private let keepsShape: Bool

    init(codec: String, storage: PixelSize) {
        self.storage = storage
        keepsShape = codec == "hdmv_pgs_subtitle"
    }

    /// Adds an event; one of the same start is replaced.
    func add(_ event: ImageEvent) {
        byteCount += event.byteCount
        let index = events.firstIndex { $0.start >= event.start } ?? events.count
        if index < events.count, events[index].start == event.start {
            byteCount -= events[index].byteCount
            events[index] = event
        } else {
            events.insert(event, at: index)
        }
        while byteCount > Self.mostBytes, events.count > 1 {
            let oldest = index * 2 >= events.count ? 0 : events.count - 1
            byteCount -= events[oldest].byteCount
            events.remove(at: oldest)
        }
    }

    /// What is on at `time`, in milliseconds, and until when it stays as it is.
    func state(at time: Int64) -> (event: ImageEvent?, until: Int64) {
        let next = events.firstIndex { $0.start > time } ?? events.count
        let until = next < events.count ? events[next].start : .max
        guard next > 0 else { return (nil, until) }
        let event = events[next - 1], end = event.end ?? .max
        if end <= time || event.images.isEmpty { return (nil, until) }
        return (event, min(until, end))
    }

    /// The images of `event` on the canvas.
    func image(_ event: ImageEvent, on canvas: OverlayCanvas) -> OverlayImage? {
        let placed = event.images.map {
            ($0, Self.place($0.place, of: event.canvas.width > 0 ? event.canvas : storage, keepsShape: keepsShape, film: canvas.film))
        }
        guard var drawing = OverlayDrawing(around: placed.map { $0.1 }, on: canvas) else { return nil }
        for (image, place) in placed {
            guard let pixels = Self.scaled(image.pixels, image.place.size, to: place.size) else { continue }
            drawing.lay(place, pixels: pixels)
        }
        return drawing.image()
    }

    /// Where a rectangle of a subtitle's canvas lies on the display, as in mpv: the canvas covers the film; where it keeps its shape, it is as high
    /// as the film and centered.
    static func place(_ rect: PixelRect, of known: PixelSize, keepsShape: Bool, film: PixelRect) -> PixelRect {
        guard known.width > 0, known.height > 0 else { return rect }
        let y = Double(film.height) / Double(known.height), x = keepsShape ? y : Double(film.width) / Double(known.width)
        let left = Double(film.x) + (Double(film.width) - Double(known.width) * x) / 2
        let top = Double(film.y)
        func rounded(_ value: Double) -> Int { Int(max(-1e6, min(1e6, value)).rounded()) }
        let from = (x: rounded(left + Double(rect.x) * x), y: rounded(top + Double(rect.y) * y))
        let to = (x: rounded(left + Double(rect.x + rect.width) * x), y: rounded(top + Double(rect.y + rect.height) * y))
        return PixelRect(x: from.x, y: from.y, width: max(1, to.x - from.x), height: max(1, to.y - from.y))
    }

    /// The pixels in another size; nil when that is absurd.
    private static func scaled(_ pixels: [UInt32], _ size: PixelSize, to target: PixelSize) -> [UInt32]? {
        if size == target { return pixels }
        guard target.width <= 1 << 14, target.height <= 1 << 14, target.width * target.height <= 1 << 26 else { return nil }
        let format = unsafe csws_format("bgra"), range: Int32 = 1, matrix: Int32 = 5
        let scaler = unsafe csws_display(
            nil, Int32(size.width), Int32(size.height), format, Int32(target.width), Int32(target.height), format, matrix, range)
        guard let scaler = unsafe scaler else { return nil }
        defer { unsafe csws_free(scaler) }
        var source = pixels, result = [UInt32](repeating: 0, count: target.width * target.height)
        let rows = unsafe source.withUnsafeMutableBytes { from in
            unsafe result.withUnsafeMutableBytes { to in
                let sources = unsafe [from.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, nil, nil]
                let targets = unsafe [to.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, nil, nil]
                return unsafe csws_scale(
                    scaler, sources, [Int32(size.width * 4), 0, 0, 0], Int32(size.height), targets, [Int32(target.width * 4), 0, 0, 0])
            }
        }
        return rows == Int32(target.height) ? result : nil
    }
}
