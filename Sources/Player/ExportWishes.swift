internal import Decoding
internal import FrameExport
internal import Media
internal import PixelConversion

/// Brings the wishes of a film's exporters together into one requirement on the decoder: every client gets the same frames.
struct ExportWishes {
    /// What the decoder is asked for.
    private(set) var requirements: OutputRequirements
    private(set) var rowAlignment: Int
    /// A sentence for each wish that is not met because an earlier exporter wishes for something else.
    private(set) var unmet: [String] = []

    /// - Parameters:
    ///   - options: What the program asks for itself; it comes first.
    ///   - exporters: Their numbers and wishes.
    init(_ options: DecoderOptions, _ exporters: [(number: Int, wishes: FrameWishes)]) {
        requirements = options.requirements
        rowAlignment = options.rowAlignment
        for (number, wishes) in exporters {
            rowAlignment = max(rowAlignment, wishes.rowAlignment)
            if !Self.narrow(&requirements.formats, to: wishes.formats) { refuse(number, wishes.formats.map(\.rawValue)) }
            if !Self.narrow(&requirements.modifiers, to: wishes.modifiers) { refuse(number, wishes.modifiers.map { "the modifier \($0)" }) }
            if let size = wishes.size, !Self.narrow(&requirements.sizes, to: [size]) { refuse(number, ["\(size)"]) }
            if let device = wishes.device {
                if requirements.device == nil || requirements.device == device {
                    requirements.device = device
                } else {
                    // Two devices: what both can import.
                    _ = Self.narrow(&requirements.modifiers, to: [.linear])
                }
            }
        }
    }

    private mutating func refuse(_ exporter: Int, _ words: [String]) {
        unmet.append("Exporter \(exporter) does not get \(words.sorted().joined(separator: " or ")), since another one takes something else.")
    }

    /// Leaves what both take, as far as there is something; false where there is not. An empty set takes anything.
    private static func narrow<Element>(_ common: inout Set<Element>, to wish: Set<Element>) -> Bool {
        if wish.isEmpty { return true }
        if common.isEmpty {
            common = wish
            return true
        }
        let both = common.intersection(wish)
        if both.isEmpty { return false }
        common = both
        return true
    }
}
