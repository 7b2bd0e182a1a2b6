internal import Media

/// An element of a DASH manifest, with those inside it. A pure value.
struct ManifestElement: Sendable {
    let name: String
    private(set) var attributes: [String: String]
    private(set) var children: [ManifestElement] = []
    /// What stands in it besides elements.
    private(set) var text = ""

    /// Manifests are eight deep; a day in parts of a second, each listed, are 86,400 elements.
    private static let deepest = 32, most = 200_000

    /// The outermost element; nil where the text is no XML, or deeper or longer than manifests are.
    init?(_ text: String) {
        var scanner = XMLScanner(Array(text.utf8)[...]), open: [ManifestElement] = [], count = 0
        while let piece = scanner.next() {
            switch piece {
            case .text(let bytes):
                if !open.isEmpty { open[open.count - 1].text += String(decoding: bytes, as: UTF8.self) }
            case .begin(let name, let attributes):
                count += 1
                if open.count >= Self.deepest || count > Self.most { return nil }
                open.append(ManifestElement(name: name, attributes: attributes))
            case .end(let name):
                guard let element = open.popLast(), element.name == name else { return nil }
                if open.isEmpty {
                    self = element
                    return
                }
                open[open.count - 1].children.append(element)
            }
        }
        return nil
    }

    private init(name: String, attributes: [String: String]) { (self.name, self.attributes) = (name, attributes) }

    subscript(attribute: String) -> String? { attributes[attribute] }

    func children(_ name: String) -> [ManifestElement] { children.filter { $0.name == name } }

    func first(_ name: String) -> ManifestElement? { children.first { $0.name == name } }

    /// Its text without blanks around it.
    var words: String {
        func isBlank(_ character: Character) -> Bool { character.isWhitespace }
        let front = text.drop(while: isBlank)
        return String(front.dropLast(front.reversed().prefix(while: isBlank).count))
    }

    /// An attribute that is a whole number from 0 to `limit`.
    func number(_ attribute: String, upTo limit: Int64 = Self.largest) -> Int64? {
        attributes[attribute].flatMap { ManifestText.number($0, upTo: limit) }
    }

    /// 2^62: ten-millionths of a second since 1970 are a hundredth of it, and anything below it can be added to it.
    static let largest = Int64(1) << 62
}
