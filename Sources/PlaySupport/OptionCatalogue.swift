internal import JSON
internal import Media

/// The options of a command by their names, as swift-argument-parser describes them (`--experimental-dump-help`).
public struct OptionCatalogue: Sendable {
    /// What follows an option's name.
    public enum Kind: Sendable, Hashable {
        /// Nothing: it is there or not.
        case flag
        /// A value. `repeats`: the option may be given more than once, and each one counts.
        case value(repeats: Bool)
    }

    private var kinds: [String: Kind]

    /// Options with these names, without the leading dashes.
    public init(_ kinds: [String: Kind]) { self.kinds = kinds }

    /// Reads the description of a command; nil: it is none.
    public init?(description: String) {
        guard let arguments = try? JSONValue(parsing: description.utf8)["command"]?["arguments"], case .array(let list) = arguments else {
            return nil
        }
        kinds = [:]
        for argument in list {
            guard case .string(let kind)? = argument["kind"], kind != "positional", case .array(let names)? = argument["names"] else { continue }
            let repeats = argument["isRepeating"] == .bool(true)
            for case .string(let name)? in names.map({ $0["name"] }) { kinds[name] = kind == "flag" ? .flag : .value(repeats: repeats) }
        }
    }

    /// What follows the option; nil: there is no such option.
    public subscript(name: String) -> Kind? { kinds[name] }

    /// Every name.
    public var names: Set<String> { Set(kinds.keys) }
}
