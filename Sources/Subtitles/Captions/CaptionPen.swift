/// What characters of CEA-708 are written with (8.5 and 8.10.5.9).
struct CaptionPen: Sendable, Hashable {
    /// A colour of 64 and how much of it is seen.
    struct Ink: Sendable, Hashable {
        /// Two bits each of red, green and blue.
        var color: UInt8
        var opacity: Opacity

        static let black = Ink(color: 0, opacity: .solid), white = Ink(color: 0x3f, opacity: .solid)
        static let none = Ink(color: 0, opacity: .transparent)
    }

    /// In the standard's order.
    enum Opacity: UInt8, Sendable { case solid, flashing, translucent, transparent }

    /// In the standard's order.
    enum Edge: UInt8, Sendable { case none, raised, depressed, uniform, leftShadow, rightShadow }

    /// The look of characters.
    struct Face: Sendable, Hashable {
        /// 0: small, 1: usual, 2: large.
        var size: UInt8 = 1
        /// 0: the viewer's, 1 to 7: see `CaptionScript`.
        var font: UInt8 = 0
        var edge = Edge.none
        var isItalic = false
        var isUnderlined = false

        init(font: UInt8 = 0, edge: Edge = .none) { (self.font, self.edge) = (font, edge) }

        init(_ first: UInt8, _ second: UInt8) {
            size = min(first & 3, 2)
            font = second & 7
            edge = Edge(rawValue: second >> 3 & 7) ?? .none
            isUnderlined = second & 0x40 != 0
            isItalic = second & 0x80 != 0
        }
    }

    struct Colors: Sendable, Hashable {
        var text = Ink.white
        /// The box behind each character.
        var back = Ink.black
        var edge: UInt8 = 0

        init(back: Ink = .black) { self.back = back }

        init(_ text: UInt8, _ back: UInt8, _ edge: UInt8) {
            self.text = Ink(text)
            self.back = Ink(back)
            self.edge = edge & 63
        }
    }

    var face: Face
    var colors: Colors

    /// A style that the standard defines, 1 to 7 (table 27); others are the first one.
    init(style: Int = 1) {
        let fonts: [UInt8] = [0, 1, 2, 3, 4, 3, 4]
        let index = (1...7).contains(style) ? style - 1 : 0
        face = Face(font: fonts[index], edge: index > 4 ? .uniform : .none)
        colors = Colors(back: index > 4 ? .none : .black)
    }
}

extension CaptionPen.Ink {
    /// As commands write it: opacity, then the colour.
    init(_ byte: UInt8) { self.init(color: byte & 63, opacity: CaptionPen.Opacity(rawValue: byte >> 6) ?? .solid) }
}
