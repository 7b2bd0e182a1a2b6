internal import JSON
package import Sandbox

extension TimelineDescription {
    /// Reads the text of a time line, and writes what it holds for `init(checking:)`. Takes long for a large text.
    ///
    /// The same is done in either process, so that a time line is one composition, wherever its text was parsed.
    package static func coding(of text: [UInt8]) throws(TimelineError) -> [UInt8] {
        guard text.count <= largestText else { throw TimelineError("no time line is larger than \(largestText >> 20) MiB") }
        let tree: JSONValue
        do throws(JSONValue.SyntaxError) { tree = try JSONValue(parsing: text, dialect: .python) } catch {
            throw TimelineError("no time line, as its JSON is damaged at byte \(error.offset)")
        }
        var reader = TimelineReader()
        try reader.read(tree)
        var writer = WireWriter()
        writer.put(reader.found)
        guard writer.bytes.count <= largestCoding else {
            throw TimelineError("what it holds takes more than \(largestCoding >> 20) MiB to describe")
        }
        return writer.bytes
    }

    /// Takes what `coding` made, perhaps in a process that is not trusted.
    /// - Throws: where a number or a text is outside its bounds, or bytes are missing or too many.
    package init(checking bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.largestCoding else { throw WireError("a time line is described by \(bytes.count) bytes") }
        var reader = WireReader(bytes[...])
        self = try reader.takeTimeline()
        try reader.finish()
    }
}
