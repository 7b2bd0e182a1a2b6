package import Media

/// How several monitors share one film.
///
/// Thread-safety: a value.
public enum MonitorArrangement: Sendable, Hashable {
    /// Each shows all of it.
    case mirror
    /// Each shows its part: they stand side by side in the order given, so many in a row; nil: all in one.
    case span(columns: Int?)
}

/// The area that a film covers, and the part of it that each monitor shows.
///
/// A pure value. Monitors of a wall are meant to be alike; of different ones each row is as high, and each column as wide, as its largest,
/// and the smaller ones stand at the top left of their places.
package struct MonitorWall: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        /// What the film is fitted to.
        package var canvas: PixelSize
        /// What the monitor shows of it.
        package var part: PixelRect
        package init(canvas: PixelSize, part: PixelRect) {
            self.canvas = canvas
            self.part = part
        }
        /// A monitor alone.
        package init(_ screen: PixelSize) { self.init(canvas: screen, part: PixelRect(screen)) }
    }

    package var places: [Place]

    /// - Parameter screens: Of the monitors, in their order.
    package init(_ screens: [PixelSize], _ arrangement: MonitorArrangement) {
        guard case .span(let wish) = arrangement, !screens.isEmpty else {
            places = screens.map(Place.init)
            return
        }
        let columns = min(max(1, wish ?? screens.count), screens.count), rows = (screens.count + columns - 1) / columns
        var widths = [Int](repeating: 0, count: columns), heights = [Int](repeating: 0, count: rows)
        for (index, screen) in screens.enumerated() {
            widths[index % columns] = max(widths[index % columns], screen.width)
            heights[index / columns] = max(heights[index / columns], screen.height)
        }
        let canvas = PixelSize(width: widths.reduce(0, +), height: heights.reduce(0, +))
        places = screens.enumerated().map { index, screen in
            let x = widths[..<(index % columns)].reduce(0, +), y = heights[..<(index / columns)].reduce(0, +)
            return Place(canvas: canvas, part: PixelRect(x: x, y: y, width: screen.width, height: screen.height))
        }
    }
}

extension PlanePlacement {
    /// What a monitor shows of a picture placed on a larger canvas; nil: nothing.
    ///
    /// Edges are rounded once for both neighbours: no line is seen twice or not at all.
    package func part(_ part: PixelRect, _ orientation: PictureOrientation) -> PlanePlacement? {
        let left = max(destination.x, part.x), right = min(destination.x + destination.width, part.x + part.width)
        let top = max(destination.y, part.y), bottom = min(destination.y + destination.height, part.y + part.height)
        guard left < right, top < bottom else { return nil }
        // Upright, in the destination's pixels.
        var columns = Span(from: left - destination.x, to: right - destination.x, of: destination.width)
        let rows = Span(from: top - destination.y, to: bottom - destination.y, of: destination.height)
        if orientation.isMirrored { columns = columns.reversed }
        let x: Span, y: Span
        switch orientation.rotation {
        case .none: (x, y) = (columns, rows)
        case .clockwise90: (x, y) = (rows, columns.reversed)
        case .clockwise180: (x, y) = (columns.reversed, rows.reversed)
        case .clockwise270: (x, y) = (rows.reversed, columns)
        }
        let (sourceX, width) = x.share(of: source.width), (sourceY, height) = y.share(of: source.height)
        return PlanePlacement(
            source: Source(x: source.x + sourceX, y: source.y + sourceY, width: width, height: height),
            destination: PixelRect(x: left - part.x, y: top - part.y, width: right - left, height: bottom - top))
    }

    /// A stretch of a side.
    private struct Span {
        var from, to, of: Int
        /// Counted from the other end.
        var reversed: Span { Span(from: of - to, to: of - from, of: of) }
        /// The same stretch of a side of another length: where it begins, and how long it is.
        func share(of length: UInt32) -> (UInt32, UInt32) {
            let begin = (UInt64(length) * UInt64(from) + UInt64(of) / 2) / UInt64(of),
                end = (UInt64(length) * UInt64(to) + UInt64(of) / 2) / UInt64(of)
            return (UInt32(begin), UInt32(end - begin))
        }
    }
}
