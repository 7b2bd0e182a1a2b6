package import Media

/// How several monitors show one film.
///
/// Thread-safety: a value.
public enum MonitorArrangement: Sendable, Hashable {
    /// Each monitor shows the whole film.
    case mirror
    /// Each monitor shows its part. The monitors stand side by side in the order given, `columns` in a row; nil: all in one row.
    case span(columns: Int?)
}

/// The canvas that a film is fitted to, and the part of it that each monitor shows.
///
/// A pure value. The monitors of a wall should have the same size. If they do not, each row is as high and each column as wide as its largest
/// monitor, and smaller monitors show the top left of their cells.
package struct OutputLayout: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        /// The area that the film is fitted to.
        package var canvas: PixelSize
        /// The part of it that the monitor shows.
        package var part: PixelRect
        package init(canvas: PixelSize, part: PixelRect) {
            self.canvas = canvas
            self.part = part
        }
        /// A single monitor.
        package init(_ screen: PixelSize) { self.init(canvas: screen, part: PixelRect(screen)) }
    }

    package var places: [Place]

    /// - Parameter screens: The monitors' sizes, in their order.
    package init(_ screens: [PixelSize], _ arrangement: MonitorArrangement) {
        guard case .span(let columnsPerRow) = arrangement, !screens.isEmpty else {
            places = screens.map(Place.init)
            return
        }
        let columns = min(max(1, columnsPerRow ?? screens.count), screens.count), rows = (screens.count + columns - 1) / columns
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
    /// The part of a frame on a larger canvas that one monitor shows; nil when it shows nothing of it.
    ///
    /// Both neighbours of an edge round it the same way, so that no line is shown twice or lost.
    package func part(_ part: PixelRect, _ orientation: FrameOrientation) -> PlanePlacement? {
        let left = max(destination.x, part.x), right = min(destination.x + destination.width, part.x + part.width)
        let top = max(destination.y, part.y), bottom = min(destination.y + destination.height, part.y + part.height)
        guard left < right, top < bottom else { return nil }
        // In the destination's pixels, upright.
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

    /// A part of a side.
    private struct Span {
        var from, to, of: Int
        /// The same part, counted from the other end.
        var reversed: Span { Span(from: of - to, to: of - from, of: of) }
        /// The corresponding part of a side with another length: its start and its length.
        func share(of length: UInt32) -> (UInt32, UInt32) {
            let begin = (UInt64(length) * UInt64(from) + UInt64(of) / 2) / UInt64(of),
                end = (UInt64(length) * UInt64(to) + UInt64(of) / 2) / UInt64(of)
            return (UInt32(begin), UInt32(end - begin))
        }
    }
}
