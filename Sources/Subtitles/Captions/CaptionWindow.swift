/// A window of CEA-708: a grid of characters at a place on the frame (8.4).
///
/// A pure value. Characters are written from left to right; windows that want them from top to bottom get them that way, too, and their rows are
/// pushed upwards or downwards only.
struct CaptionWindow: Sendable, Hashable {
    struct Cell: Sendable, Hashable {
        var character: Unicode.Scalar
        var pen: CaptionPen
    }

    /// In the standard's order.
    enum Justification: UInt8, Sendable { case left, right, center, full }

    /// See 8.10.5.8.
    struct Attributes: Sendable, Hashable {
        var fill: CaptionPen.Ink
        var justification = Justification.left
        var wrapsWords = false
        /// New rows come at the top.
        var scrollsDown = false
        /// Characters are written from right to left: rows without another justification begin there.
        var isRightToLeft = false

        /// A style that the standard defines, 1 to 7 (table 26); others are the first one.
        init(style: Int = 1) {
            fill = style == 2 || style == 5 ? .none : .black
            justification = style == 3 || style == 6 ? .center : .left
            wrapsWords = (4...6).contains(style)
        }

        init(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
            fill = CaptionPen.Ink(first)
            justification = Justification(rawValue: third & 3) ?? .left
            wrapsWords = third & 0x40 != 0
            isRightToLeft = third >> 4 & 3 == 1
            scrollsDown = third >> 2 & 3 == 2
        }
    }

    /// See 8.10.5.2.
    struct Definition: Sendable, Hashable {
        var isVisible: Bool
        /// 0 to 7; 0 lies above the others.
        var priority: Int
        /// The place of the anchor: in percent of the area for captions, or in its 75 rows and 210 (160) columns.
        var isRelative: Bool
        var row: Int, column: Int
        /// Which point of the window lies there: 0 to 8, by rows from the upper left.
        var anchor: Int
        var rows: Int, columns: Int
        /// 0: as it is, or the first one.
        var windowStyle: Int, penStyle: Int

        /// - Parameter bytes: Six.
        init(_ bytes: [UInt8]) {
            isVisible = bytes[0] & 0x20 != 0
            priority = Int(bytes[0] & 7)
            isRelative = bytes[1] & 0x80 != 0
            (row, column) = (Int(bytes[1] & 0x7f), Int(bytes[2]))
            anchor = min(Int(bytes[3] >> 4), 8)
            rows = min(Int(bytes[3] & 15) + 1, CaptionWindow.mostRows)
            columns = min(Int(bytes[4] & 63) + 1, CaptionWindow.mostColumns)
            (windowStyle, penStyle) = (Int(bytes[5] >> 3 & 7), Int(bytes[5] & 7))
        }
    }

    /// All that fit on the frame.
    static let mostRows = 15, mostColumns = 42

    private(set) var definition: Definition
    var attributes: Attributes
    var pen: CaptionPen
    var isVisible: Bool
    /// Nil where nothing was written.
    private(set) var cells: [[Cell?]]
    private var row = 0, column = 0

    init(_ definition: Definition) {
        self.definition = definition
        isVisible = definition.isVisible
        attributes = Attributes(style: definition.windowStyle)
        pen = CaptionPen(style: definition.penStyle)
        cells = Self.empty(definition.rows)
    }

    private static let emptyRow = [Cell?](repeating: nil, count: mostColumns)
    private static func empty(_ rows: Int) -> [[Cell?]] { [[Cell?]](repeating: emptyRow, count: rows) }

    /// Is defined once more: what is written in it stays.
    mutating func define(_ definition: Definition) {
        if definition.windowStyle > 0 { attributes = Attributes(style: definition.windowStyle) }
        if definition.penStyle > 0 { pen = CaptionPen(style: definition.penStyle) }
        isVisible = definition.isVisible
        cells = Array(cells.prefix(definition.rows)) + Self.empty(max(0, definition.rows - cells.count))
        row = min(row, definition.rows - 1)
        self.definition = definition
    }

    // MARK: Writing

    mutating func movePen(row: Int, column: Int) {
        (self.row, self.column) = (min(row, definition.rows - 1), min(column, Self.mostColumns))
    }

    mutating func write(_ character: Unicode.Scalar) {
        if column >= definition.columns, attributes.wrapsWords {
            if character == " " { return carriageReturn() }
            wrap()
        }
        // What goes on beyond the window is kept as far as a frame has room.
        guard column < Self.mostColumns else { return }
        cells[row][column] = Cell(character: character, pen: pen)
        column += 1
    }

    /// The word that does not fit goes into the next row.
    private mutating func wrap() {
        let line = cells[row][..<column], word = line.reversed().prefix { $0.map { $0.character != " " } ?? false }.count
        // A word as long as the row is cut.
        let moved = word < definition.columns ? Array(line.suffix(word)) : []
        for index in column - moved.count..<column { cells[row][index] = nil }
        carriageReturn()
        for (index, cell) in moved.enumerated() { cells[row][index] = cell }
        column = moved.count
    }

    mutating func backspace() {
        guard column > 0 else { return }
        column -= 1
        cells[row][column] = nil
    }

    mutating func clear() {
        cells = Self.empty(definition.rows)
        (row, column) = (0, 0)
    }

    mutating func clearRow() {
        cells[row] = Self.emptyRow
        column = 0
    }

    mutating func carriageReturn() {
        column = 0
        if attributes.scrollsDown {
            cells.insert(Self.emptyRow, at: 0)
            cells.removeLast()
            row = 0
        } else if row + 1 < definition.rows {
            row += 1
        } else {
            cells.removeFirst()
            cells.append(Self.emptyRow)
        }
    }
}
