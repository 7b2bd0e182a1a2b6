/// The windows of a service of CEA-708 as lines of an ASS script, which libass draws.
///
/// A pure value.
struct CaptionScript: Sendable, Hashable {
    /// The script's coordinates: the frame has 1920 by 1080, whatever its shape.
    private static let width = 1920.0, height = 1080.0
    /// Captions lie in the middle 80 % of the frame each way, in 15 rows (8.2 and 8.3).
    private static let margin = 0.1, rows = 15.0
    /// What anchors are counted in: 75 rows, and 210 columns on a wide frame, 160 on another.
    private static let anchorRows = 75.0

    /// The height of a row of the usual size.
    fileprivate static let size = height * (1 - 2 * margin) / rows

    /// Whether the frame is 16 by 9, or wider.
    let isWide: Bool

    /// - Parameter width, height: Of the film's frames. Where nobody knows them, they are taken for wide.
    init(width: Int, height: Int) { isWide = width <= 0 || height <= 0 || Double(width) / Double(height) > 1.6 }

    /// The head: characters in boxes, and characters with edges instead.
    static let header: String = {
        func style(_ name: String, border: Int) -> String {
            let colors = "&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000", alignment = 7
            // Boxes reach so far beyond their characters that no slits stay between them.
            let size = CaptionScript.size, edge = border == 3 ? 4 : 3
            return "Style: \(name),monospace,\(size),\(colors),0,0,0,0,100,100,0,0,\(border),\(edge),0,\(alignment),0,0,0,1"
        }
        return """
            [Script Info]
            ScriptType: v4.00+
            PlayResX: \(Int(width))
            PlayResY: \(Int(height))
            WrapStyle: 2
            ScaledBorderAndShadow: yes

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, \
            ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
            \(style("Box", border: 3))
            \(style("Edge", border: 1))

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

            """
    }()

    // MARK: Lines

    /// A line for each window that shows something, one behind the other with line feeds between them.
    func text(_ windows: [CaptionWindow?]) -> [UInt8] {
        var lines: [String] = []
        for case let window? in windows where window.isVisible {
            let words = rows(window)
            guard !words.isEmpty else { continue }
            let order = lines.count, layer = 7 - window.definition.priority
            lines.append("\(order),\(layer),Box,,0,0,0,,{\\an\(Self.alignment(window.definition.anchor))\(place(window.definition))}\(words)")
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Of libass: 1 to 9, as on a keypad.
    private static func alignment(_ anchor: Int) -> Int { (2 - anchor / 3) * 3 + anchor % 3 + 1 }

    private func place(_ definition: CaptionWindow.Definition) -> String {
        let columns = isWide ? 210.0 : 160.0
        let x = Double(definition.column) / (definition.isRelative ? 99 : columns - 1)
        let y = Double(definition.row) / (definition.isRelative ? 99 : Self.anchorRows - 1)
        func point(_ part: Double, _ size: Double) -> Int { Int((size * (Self.margin + min(part, 1) * (1 - 2 * Self.margin))).rounded()) }
        return "\\pos(\(point(x, Self.width)),\(point(y, Self.height)))"
    }

    /// The rows of a window, all as long as it is; empty where nothing of it is seen.
    private func rows(_ window: CaptionWindow) -> String {
        let isFilled = window.attributes.fill.opacity != .transparent
        let lines = window.cells.map { Self.justified($0, window) }
        guard isFilled || lines.contains(where: { $0.contains { $0 != nil } }) else { return "" }
        var result = "", last: Look?
        for (number, line) in lines.enumerated() {
            if number > 0 { result += "\\N" }
            let size = line.lazy.compactMap { $0?.pen.face.size }.first ?? 1
            for cell in line {
                let look = Look(cell, size, window.attributes)
                if look != last { result += look.tags }
                last = look
                // Blanks at the ends of a line would be left out.
                result += cell.map { $0.character == " " ? "\\h" : Self.escaped($0.character) } ?? "\\h"
            }
        }
        return result
    }

    /// A row with blanks around what is written, as the window wants it.
    private static func justified(_ cells: [CaptionWindow.Cell?], _ window: CaptionWindow) -> [CaptionWindow.Cell?] {
        let columns = window.definition.columns
        let last = cells.lastIndex { $0 != nil } ?? -1
        var kind = window.attributes.justification
        if kind == .left || kind == .full, window.attributes.isRightToLeft { kind = .right }
        if kind == .left || kind == .full { return Array(cells.prefix(max(columns, last + 1))) }
        guard let first = cells.firstIndex(where: { $0 != nil }) else { return Array(cells.prefix(columns)) }
        let written = Array(cells[first...last]), room = max(0, columns - written.count), before = kind == .right ? room : room / 2
        func blanks(_ count: Int) -> [CaptionWindow.Cell?] { [CaptionWindow.Cell?](repeating: nil, count: count) }
        return blanks(before) + written + blanks(room - before)
    }

    /// What libass would take for a command is none.
    private static func escaped(_ character: Unicode.Scalar) -> String {
        switch character {
        case "{", "}": "\\\(character)"
        // An invisible character keeps a letter from becoming part of it.
        case "\\": "\\\u{2060}"
        // Control characters, those that change the direction among them, would break the row.
        default: character.properties.generalCategory == .format || character.properties.generalCategory == .control ? "\\h" : "\(character)"
        }
    }
}

/// How characters look, as libass's tags.
private struct Look: Hashable {
    /// Nil: nothing is written, and the window's fill is seen.
    var pen: CaptionPen?
    var fill: CaptionPen.Ink
    var size: UInt8

    /// - Parameter size: Of blanks: that of the characters in their row.
    init(_ cell: CaptionWindow.Cell?, _ size: UInt8, _ attributes: CaptionWindow.Attributes) {
        (pen, fill, self.size) = (cell?.pen, attributes.fill, cell?.pen.face.size ?? size)
    }

    /// Fonts by their numbers: monospaced and proportional ones with and without serifs, then casual, cursive, small capitals.
    private static let fonts = ["", "Courier New", "serif", "monospace", "sans-serif", "sans-serif", "serif", "sans-serif"]
    private static let sizes = [0.75, 1, 1.25]

    var tags: String {
        let scale = size == 1 ? "" : "\\fs\(CaptionScript.size * Self.sizes[Int(size)])"
        guard let pen else { return "{\\rBox\(Self.ink(3, fill))\\1a&HFF&\(scale)}" }
        let face = pen.face, colors = pen.colors, back = colors.back.opacity == .transparent ? fill : colors.back
        var tags = back.opacity == .transparent && face.edge != .none ? "\\rEdge\(Self.edge(face.edge, colors.edge))" : "\\rBox\(Self.ink(3, back))"
        tags += Self.ink(1, colors.text)
        let font = Self.fonts[Int(face.font)]
        if !font.isEmpty { tags += "\\fn\(font)" }
        tags += scale
        if face.isItalic { tags += "\\i1" }
        if face.isUnderlined { tags += "\\u1" }
        return "{\(tags)}"
    }

    private static func ink(_ part: Int, _ ink: CaptionPen.Ink) -> String {
        let alpha =
            switch ink.opacity {
            case .solid, .flashing: "00"
            case .translucent: "80"
            case .transparent: "FF"
            }
        return "\\\(part)c\(color(ink.color))\\\(part)a&H\(alpha)&"
    }

    /// Blue, green, red.
    private static func color(_ color: UInt8) -> String {
        func part(_ shift: UInt8) -> String {
            let text = String(Int(color >> shift & 3) * 85, radix: 16, uppercase: true)
            return text.count < 2 ? "0" + text : text
        }
        return "&H\(part(0))\(part(2))\(part(4))&"
    }

    private static func edge(_ edge: CaptionPen.Edge, _ color: UInt8) -> String {
        let ink = Self.color(color)
        return switch edge {
        case .none, .uniform: "\\3c\(ink)"
        case .raised, .rightShadow: "\\4c\(ink)\\bord0\\xshad3\\yshad3"
        case .depressed: "\\4c\(ink)\\bord0\\xshad-3\\yshad-3"
        case .leftShadow: "\\4c\(ink)\\bord0\\xshad-3\\yshad3"
        }
    }
}
