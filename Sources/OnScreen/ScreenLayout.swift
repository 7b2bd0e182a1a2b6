internal import DisplaySink
package import Media

/// The sizes of what is drawn on a display, in its pixels.
///
/// A pure value.
package struct ScreenLayout: Sendable, Hashable {
    /// The sizes below are those on a display of 720 rows; half of them is the least that can be read.
    private static let rows = 720.0, least = 0.5

    package let size: PixelSize
    /// Pixels per row of a display of 720 rows.
    package let unit: Double

    package init(_ size: PixelSize) {
        self.size = size
        unit = max(Self.least, Double(min(size.width, size.height)) / Self.rows)
    }

    /// The height of a line of a message, of a page, and of the bar's times.
    package var messageHeight: Double { 32 * unit }
    package var pageHeight: Double { 21 * unit }
    package var timeHeight: Double { 24 * unit }
    /// The width of the black line around letters.
    package var outline: Double { 1.65 * unit }
    /// The distance of messages from the edges.
    package var margin: Double { 16 * unit }
}

/// Where the parts of the bar lie.
///
///     ( ▶ 1:23 ━━━━━━|━━━●─────|─────── 4:56 )
///
/// A pure value. Places are pixels of the canvas.
package struct BarLayout: Sendable, Hashable {
    package struct Box: Sendable, Hashable {
        package var x, y, width, height: Double

        package func contains(_ place: (x: Double, y: Double)) -> Bool {
            place.x >= x && place.x < x + width && place.y >= y && place.y < y + height
        }
    }

    /// The dark area behind everything.
    package let pill: Box
    /// The play or pause sign.
    package let sign: Box
    /// What is played and what is to come; nil: the film's end is not known.
    package let track: Box?
    /// The left edge of the position, and the right edge of the duration.
    package let positionLeft, durationRight: Double

    package init(_ bar: ScreenBar, _ layout: ScreenLayout) {
        let unit = layout.unit, height = 44 * unit, digit = 0.52 * layout.timeHeight
        let width = max(min(Double(layout.size.width) - 2 * layout.margin, Double(layout.size.width) * 0.8), 1)
        let x = (Double(layout.size.width) - width) / 2
        pill = Box(x: x, y: max(0, Double(layout.size.height) - height - 28 * unit), width: width, height: height)
        sign = Box(x: x + 18 * unit, y: pill.y + (height - 18 * unit) / 2, width: 15 * unit, height: 18 * unit)
        positionLeft = sign.x + sign.width + 12 * unit
        durationRight = x + width - 18 * unit
        guard let duration = bar.duration else {
            track = nil
            return
        }
        // Both as wide as the duration, so that nothing moves while the film plays.
        let text = Double(MediaTime.clockText(seconds: Int(duration)).count) * digit
        let left = positionLeft + text + 12 * unit, right = durationRight - text - 12 * unit
        track = right - left > height ? Box(x: left, y: pill.y + height / 2 - 3 * unit, width: right - left, height: 6 * unit) : nil
    }

    /// The part of the film, from 0 to 1, that the track shows at this column.
    package func share(atColumn x: Double) -> Double {
        guard let track else { return 0 }
        return min(1, max(0, (x - track.x) / track.width))
    }

    /// What is at a place: the track reaches from the upper to the lower edge of the pill.
    package enum Part: Sendable, Hashable { case track, sign, other }

    package func part(at place: (x: Double, y: Double)) -> Part? {
        guard pill.contains(place) else { return nil }
        if let track, place.x >= track.x - pill.height / 4, place.x <= track.x + track.width + pill.height / 4 { return .track }
        return place.x < positionLeft ? .sign : .other
    }
}
