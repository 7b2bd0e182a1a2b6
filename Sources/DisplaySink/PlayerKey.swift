/// A key that a viewer presses, by the name that it has in mpv's `input.conf`: the character that it types (`q`, `Q`, `#`), or `SPACE`, `LEFT`, `F1`,
/// after `Ctrl+`, `Alt+`, `Meta+` and `Shift+` in this order. Shift is named only where it does not change the character.
///
/// Thread-safety: a value.
public struct PlayerKey: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// The key with this name as it is; see `init(mpvName:)`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The modifiers, in the order in which names have them.
    package struct Modifiers: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        package static let control = Modifiers(rawValue: 1), alt = Modifiers(rawValue: 2), meta = Modifiers(rawValue: 4)
        package static let shift = Modifiers(rawValue: 8)
        fileprivate static let named: [(Modifiers, String)] = [(.control, "Ctrl+"), (.alt, "Alt+"), (.meta, "Meta+"), (.shift, "Shift+")]
    }

    /// The key that has this name without modifiers.
    package init(_ base: String, _ modifiers: Modifiers = []) {
        rawValue = Modifiers.named.filter { modifiers.contains($0.0) }.map(\.1).joined() + base
    }

    /// The key that a person calls so: modifiers in any order, names of keys in any case, `SHARP` for `#`. Nil: there is no such key.
    public init?(mpvName name: String) {
        var rest = Substring(name), modifiers: Modifiers = []
        while let found = Modifiers.named.first(where: { rest.count > $0.1.count && rest.lowercased().hasPrefix($0.1.lowercased()) }) {
            modifiers.insert(found.0)
            rest = rest.dropFirst(found.1.count)
        }
        if rest.count == 1, let character = rest.first {
            guard !character.isWhitespace else { return nil }
            let isShifted = modifiers.contains(.shift) && character.isLetter
            if isShifted { modifiers.remove(.shift) }
            self.init(isShifted ? rest.uppercased() : String(rest), modifiers)
        } else {
            let base = rest.uppercased()
            guard Self.names.contains(base) || base == "SHARP" else { return nil }
            self.init(base == "SHARP" ? "#" : base, modifiers)
        }
    }

    /// The names of keys that do not type a character.
    public static let names: [String] =
        [
            "SPACE", "ENTER", "TAB", "BS", "DEL", "INS", "HOME", "END", "PGUP", "PGDWN", "ESC", "PRINT", "LEFT", "RIGHT", "UP", "DOWN", "KP_ENTER",
            "KP_DEC", "PLAY", "PAUSE", "PLAYPAUSE", "STOP", "FORWARD", "REWIND", "NEXT", "PREV", "VOLUME_UP", "VOLUME_DOWN", "MUTE", "MENU", "POWER",
        ] + (0...9).map { "KP\($0)" } + (1...24).map { "F\($0)" }

    public static let space = PlayerKey("SPACE"), escape = PlayerKey("ESC"), enter = PlayerKey("ENTER"), backspace = PlayerKey("BS")
    public static let left = PlayerKey("LEFT"), right = PlayerKey("RIGHT"), up = PlayerKey("UP"), down = PlayerKey("DOWN")
    public static let pageUp = PlayerKey("PGUP"), pageDown = PlayerKey("PGDWN"), q = PlayerKey("q")

    /// Whether holding the key repeats it: only keys that move something by a step, as they are bound without a file.
    package var repeats: Bool { Self.repeating.contains(rawValue) }

    private static let repeating: Set<String> = {
        var names: Set = [",", ".", "9", "0", "/", "*", "z", "x", "r", "R", "t", "VOLUME_UP", "VOLUME_DOWN", "KP9", "KP0"]
        for arrow in ["LEFT", "RIGHT", "UP", "DOWN"] { for modifier in ["", "Shift+", "Ctrl+", "Alt+"] { names.insert(modifier + arrow) } }
        return names
    }()
}
