package import Media

/// The playback status that a sink draws over the film.
///
/// Thread-safety: a value.
public struct PlaybackStatus: Sendable, Hashable {
    /// Whether the play sign is drawn; false: the pause sign.
    public var isPlaying: Bool
    /// Whole seconds from the film's beginning.
    public var position: Int
    /// Whole seconds; nil when the film's end is not known.
    public var duration: Int?

    /// Creates a status. A negative position or duration, in seconds, becomes 0.
    public init(isPlaying: Bool, position: Int, duration: Int?) {
        self.isPlaying = isPlaying
        self.position = max(0, position)
        self.duration = duration.map { max(0, $0) }
    }

    /// `7:05`, `1:02:03`.
    static func text(_ seconds: Int) -> String { MediaTime.clockText(seconds: seconds) }
}

/// Shows the viewer over the film where playback is; see `DisplaySink.statusOverlay`.
public protocol StatusOverlay: AnyObject, Sendable {
    /// Shows this status; nil hides it. Without effect on displays that cannot draw it.
    ///
    /// Thread-safety: any thread. It takes effect at the next refresh.
    func showStatus(_ status: PlaybackStatus?)
}

/// Draws the status: a dark pill with a play or pause sign, the position, a progress bar and the duration.
///
///     ( ▶ 1:23 ━━━━━━━━━━────────────── 4:56 )
///
/// A pure value. Pixels are blue, green, red and alpha bytes, premultiplied. Shapes are drawn by each pixel's distance from them, so that their
/// edges are smooth at every size.
package struct StatusBar: Sendable, Hashable {
    package let size: PixelSize
    /// Pixels per drawing unit.
    private let unit: Double

    /// A status bar for a screen of this size.
    package init(screen: PixelSize) {
        unit = max(1, (Double(screen.height) / 360).rounded(.down))
        // A multiple of 64 pixels, which display hardware accepts.
        size = PixelSize(width: max(64, screen.width / 2 / 64 * 64), height: Int(unit) * 28)
    }

    /// Its place on the screen: centered, a little above the lower edge. All coordinates are even.
    package func place(on screen: PixelSize) -> PixelRect {
        PixelRect(
            x: max(0, (screen.width - size.width) / 4 * 2), y: max(0, (screen.height - size.height - screen.height / 16) / 2 * 2),
            width: size.width, height: size.height)
    }

    /// The length of the progress bar in pixels. A change makes a redraw necessary.
    package func progress(_ status: PlaybackStatus) -> Int { Int((bar(status).length * share(status)).rounded()) }

    private func share(_ status: PlaybackStatus) -> Double {
        guard let duration = status.duration, duration > 0 else { return 0 }
        return min(1, Double(status.position) / Double(duration))
    }

    private func bar(_ status: PlaybackStatus) -> (left: Double, length: Double) {
        let left = 36 * unit + Glyph.width(PlaybackStatus.text(status.position)) * unit
        let right = Double(size.width) - 14 * unit - (status.duration.map { Glyph.width(PlaybackStatus.text($0)) + 10 } ?? 0) * unit
        return (left, max(0, right - left))
    }

    /// The pixels, row by row from the top.
    package func pixels(_ status: PlaybackStatus) -> [UInt32] {
        var canvas = Canvas(size: size)
        let height = Double(size.height), middle = height / 2
        canvas.fill(opacity: 0.62, light: 0, PixelRect(size)) { x, y in
            // A pill: the points within half its height from the line between the centers of its ends.
            Stroke.distance(x, y, middle, middle, Double(size.width) - middle, middle) - middle
        }
        let sign = Stroke.sign(status.isPlaying)
        canvas.draw(sign, x: 14 * unit, y: middle - 4.5 * unit, unit: unit * 1.5, radius: 0.5 * unit)
        canvas.draw(text: PlaybackStatus.text(status.position), x: 28 * unit, y: middle - 4.5 * unit, unit: unit * 1.5)
        if let duration = status.duration {
            let text = PlaybackStatus.text(duration)
            canvas.draw(text: text, x: Double(size.width) - (14 + Glyph.width(text)) * unit, y: middle - 4.5 * unit, unit: unit * 1.5)
        }
        let (left, length) = bar(status), thick = 1.5 * unit
        guard status.duration != nil, length > 2 * thick else { return canvas.pixels }
        let box = PixelRect(x: Int(left), y: Int(middle - 2 * unit), width: Int(length) + 1, height: Int(4 * unit) + 1)
        canvas.fill(opacity: 0.35, light: 1, box) { x, y in
            Stroke.distance(x, y, left + thick, middle, left + length - thick, middle) - thick
        }
        let passed = length * share(status)
        if passed > 0 {
            canvas.fill(opacity: 1, light: 1, box) { x, y in
                Stroke.distance(x, y, left + thick, middle, left + max(thick, passed - thick), middle) - thick
            }
        }
        return canvas.pixels
    }
}

/// Pixels to draw on.
private struct Canvas {
    let size: PixelSize
    private(set) var pixels: [UInt32]

    init(size: PixelSize) {
        self.size = size
        pixels = Array(repeating: 0, count: size.width * size.height)
    }

    /// Draws a shape in one gray (0 to 1). `distance` is the distance of a pixel's center from the shape, negative inside.
    mutating func fill(opacity: Double, light: Double, _ box: PixelRect, distance: (_ x: Double, _ y: Double) -> Double) {
        for y in max(0, box.y)..<max(0, min(size.height, box.y + box.height)) {
            for x in max(0, box.x)..<max(0, min(size.width, box.x + box.width)) {
                let cover = opacity * min(1, max(0, 0.5 - distance(Double(x) + 0.5, Double(y) + 0.5)))
                guard cover > 0 else { continue }
                let old = pixels[y * size.width + x]
                func mixed(_ shift: UInt32, _ value: Double) -> UInt32 {
                    UInt32((Double(old >> shift & 255) * (1 - cover) + 255 * cover * value).rounded())
                }
                let grey = mixed(0, light)
                pixels[y * size.width + x] = mixed(24, 1) << 24 | grey << 16 | grey << 8 | grey
            }
        }
    }

    mutating func draw(_ strokes: [Stroke], x: Double, y: Double, unit: Double, radius: Double) {
        let all = strokes.flatMap(\.points)
        guard let right = all.map(\.x).max(), let bottom = all.map(\.y).max() else { return }
        let box = PixelRect(
            x: Int(x - radius) - 1, y: Int(y - radius) - 1, width: Int(right * unit + 2 * radius) + 3, height: Int(bottom * unit + 2 * radius) + 3)
        fill(opacity: 1, light: 1, box) { column, row in
            (strokes.map { $0.distance((column - x) / unit, (row - y) / unit) }.min() ?? .infinity) * unit - radius
        }
    }

    mutating func draw(text: String, x: Double, y: Double, unit: Double) {
        var x = x
        for character in text {
            draw(Glyph.strokes(character), x: x, y: y, unit: unit, radius: 0.5 * unit)
            x += Glyph.advance(character) * unit
        }
    }
}

/// A line through points, or the area that it encloses.
private struct Stroke {
    var points: [(x: Double, y: Double)]
    var isFilled = false

    init(_ points: (Double, Double)..., isFilled: Bool = false) {
        self.points = points.map { (x: $0.0, y: $0.1) }
        self.isFilled = isFilled
    }

    func distance(_ x: Double, _ y: Double) -> Double {
        guard points.count > 1 else { return Self.distance(x, y, points[0].x, points[0].y, points[0].x, points[0].y) }
        var least = Double.infinity, isInside = isFilled
        for (a, b) in zip(points, points.dropFirst()) {
            least = min(least, Self.distance(x, y, a.x, a.y, b.x, b.y))
            // The inside of clockwise points is on the right.
            if (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x) < 0 { isInside = false }
        }
        return isInside ? -least : least
    }

    /// The distance of a point from the line between two others.
    static func distance(_ x: Double, _ y: Double, _ ax: Double, _ ay: Double, _ bx: Double, _ by: Double) -> Double {
        let lengthX = bx - ax, lengthY = by - ay, square = lengthX * lengthX + lengthY * lengthY
        let along = square > 0 ? min(1, max(0, ((x - ax) * lengthX + (y - ay) * lengthY) / square)) : 0
        let offX = x - ax - along * lengthX, offY = y - ay - along * lengthY
        return (offX * offX + offY * offY).squareRoot()
    }

    /// The play or pause sign.
    static func sign(_ isPlaying: Bool) -> [Stroke] {
        isPlaying
            ? [Stroke((0.4, 0.4), (5.2, 3), (0.4, 5.6), (0.4, 0.4), isFilled: true)]
            : [
                Stroke((0.4, 0.3), (1.2, 0.3), (1.2, 5.7), (0.4, 5.7), (0.4, 0.3), isFilled: true),
                Stroke((3.4, 0.3), (4.2, 0.3), (4.2, 5.7), (3.4, 5.7), (3.4, 0.3), isFilled: true),
            ]
    }
}

/// The digits as lines in a field of 4 by 6 units.
private enum Glyph {
    /// The distance to the next character.
    static func advance(_ character: Character) -> Double { character == ":" ? 2.4 : 5.6 }

    /// The width of a text at one and a half units.
    static func width(_ text: String) -> Double { text.reduce(0) { $0 + advance($1) } * 1.5 - 2.4 }

    static func strokes(_ character: Character) -> [Stroke] {
        switch character {
        case "0": [Stroke((1.1, 0), (2.9, 0), (4, 1.2), (4, 4.8), (2.9, 6), (1.1, 6), (0, 4.8), (0, 1.2), (1.1, 0))]
        case "1": [Stroke((0.8, 1.4), (2.4, 0), (2.4, 6))]
        case "2": [Stroke((0, 1.3), (1.1, 0), (2.9, 0), (4, 1.2), (4, 2.2), (0, 6), (4, 6))]
        case "3": [Stroke((0.2, 0), (3.9, 0), (1.9, 2.4), (2.9, 2.4), (4, 3.6), (4, 4.8), (2.9, 6), (1.1, 6), (0, 5))]
        case "4": [Stroke((3.1, 6), (3.1, 0), (0, 4.3), (4, 4.3))]
        case "5": [Stroke((3.7, 0), (0.5, 0), (0.2, 2.7), (2.7, 2.4), (4, 3.6), (4, 4.8), (2.9, 6), (1.1, 6), (0, 5.1))]
        case "6": [six]
        case "7": [Stroke((0, 0), (4, 0), (1.4, 6))]
        case "8":
            [
                Stroke((1.2, 0), (2.8, 0), (3.7, 0.9), (3.7, 1.9), (2.8, 2.8), (1.2, 2.8), (0.3, 1.9), (0.3, 0.9), (1.2, 0)),
                Stroke((1.2, 2.8), (0, 3.9), (0, 4.9), (1.1, 6), (2.9, 6), (4, 4.9), (4, 3.9), (2.8, 2.8)),
            ]
        case "9":
            [Stroke(turning: six)]
        case ":": [Stroke((0.6, 1.7)), Stroke((0.6, 4.5))]
        default: []
        }
    }

    private static let six = Stroke(
        (3.1, 0), (1.2, 1.5), (0, 3.6), (0, 4.8), (1.1, 6), (2.9, 6), (4, 4.8), (4, 3.8), (2.9, 2.7), (1.1, 2.7), (0, 3.8))
}

extension Stroke {
    /// The stroke upside down in its field.
    fileprivate init(turning other: Stroke) {
        points = other.points.map { (x: 4 - $0.x, y: 6 - $0.y) }
        isFilled = other.isFilled
    }
}
