/// The words of a command line after configuration files, mpv's spellings and `--name=yes` have been resolved.
///
/// What comes later wins: files before the profiles that the command line asks for, those before the command line itself. Of an option that may be
/// given more than once, the command line's values replace those of the files. `--name=no` and `--no-name` take an earlier `--name` back.
public struct OptionWords: Sendable {
    /// Why a word makes no sense.
    public struct Failure: Error, Sendable, Hashable {
        /// A sentence for people, without the point at its end.
        public var reason: String
    }

    /// A line of a file that has been left out.
    public typealias Fault = ConfigurationFile.Fault

    private struct Setting: Sendable {
        var name: String
        var words: [String]
        var isOfFile: Bool
    }

    private let catalogue: OptionCatalogue
    private var settings: [Setting] = []
    private var others: [String] = []
    private var profiles: [String: [ConfigurationFile.Entry]] = [:]
    private var isOfFile = false

    /// Begins without words. `catalogue`: the options that there are.
    public init(_ catalogue: OptionCatalogue) { self.catalogue = catalogue }

    /// Everything that has been added: options first, then what is no option.
    public var words: [String] { settings.flatMap(\.words) + others }

    /// Adds the options of a file.
    ///
    /// - Returns: The lines that make no sense; they are left out.
    public mutating func add(_ file: ConfigurationFile) -> [Fault] {
        for (name, entries) in file.profiles { profiles[name, default: []] += entries }
        return file.faults + add(file.entries, within: [])
    }

    /// Adds a profile of the files.
    ///
    /// - Returns: The lines that make no sense; they are left out.
    /// - Throws: where no file has this profile.
    public mutating func add(profile name: String) throws(Failure) -> [Fault] {
        guard let entries = profiles[name] else { throw Failure(reason: "there is no profile \(name)") }
        return add(entries, within: [name])
    }

    private mutating func add(_ entries: [ConfigurationFile.Entry], within open: Set<String>) -> [Fault] {
        isOfFile = true
        defer { isOfFile = false }
        var faults: [Fault] = []
        for entry in entries {
            do throws(Failure) {
                switch entry.name {
                case "profile-desc": break
                case "profile":
                    for name in (entry.value ?? "").split(separator: ",").map(String.init) {
                        guard let found = profiles[name] else { throw Failure(reason: "there is no profile \(name)") }
                        guard !open.contains(name) else { throw Failure(reason: "the profile \(name) contains itself") }
                        faults += add(found, within: open.union([name]))
                        isOfFile = true
                    }
                case "no-config", "config", "config-dir": throw Failure(reason: "--\(entry.name) belongs on the command line")
                default: try resolve(entry.name, entry.value, needsValue: true)
                }
            } catch { faults.append(Fault(line: entry.line, reason: error.reason)) }
        }
        return faults
    }

    /// Adds the words of a command line. Words that nobody knows stay as they are.
    ///
    /// - Throws: an option of mpv's that does not exist here.
    public mutating func add(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), word != "--" else {
                others.append(word)
                if word == "--" { return others += rest }
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            if parts.count == 1, case .value? = catalogue[name] {
                guard let value = rest.first, !value.hasPrefix("--") else {
                    others.append(word)
                    continue
                }
                put(name, [word, rest.removeFirst()])
            } else if try !found(name, parts.count == 2 ? parts[1] : nil, needsValue: false) {
                others.append(word)
            }
        }
    }

    private mutating func resolve(_ name: String, _ value: String?, needsValue: Bool) throws(Failure) {
        if try !found(name, value, needsValue: needsValue) { throw Failure(reason: "there is no option \(name)") }
    }

    /// False where nobody knows the name.
    private mutating func found(_ name: String, _ value: String?, needsValue: Bool) throws(Failure) -> Bool {
        switch catalogue[name] {
        case .value?:
            guard let value else {
                guard needsValue else { return false }
                throw Failure(reason: "--\(name) needs a value")
            }
            put(name, name == "camera" ? ["--camera", value] : ["--\(name)=\(value)"])
            return true
        case .flag?:
            switch value {
            case nil, "yes": put(name, ["--\(name)"])
            case "no" where catalogue["no-\(name)"] == .flag: put("no-\(name)", ["--no-\(name)"])
            case "no": remove(name)
            case let value?:
                // mpv's numbers and words for what is there or not here.
                guard case .words(let words)? = ForeignOption(name, value) else { throw Failure(reason: "--\(name) cannot be \(value)") }
                try add(words)
            }
            return true
        case nil: break
        }
        if catalogue["no-\(name)"] == .flag, value == nil || value == "yes" || value == "no" {
            if value == "no" { put("no-\(name)", ["--no-\(name)"]) } else { remove("no-\(name)") }
            return true
        }
        if name.hasPrefix("no-"), value == nil {
            let base = String(name.dropFirst(3))
            if catalogue[base] == .flag {
                remove(base)
                return true
            }
            return ForeignOption.names.contains(base) ? try found(base, "no", needsValue: needsValue) : false
        }
        switch ForeignOption(name, value) {
        case nil: return false
        case .words(let words)?: try add(words)
        case .absent(let why)?: throw Failure(reason: "--\(name) is an option of mpv's that does not exist here: \(why)")
        }
        return true
    }

    /// The option is these words from now on.
    private mutating func put(_ name: String, _ words: [String]) {
        if catalogue[name] == .value(repeats: true) {
            if !isOfFile { settings.removeAll { $0.name == name && $0.isOfFile } }
        } else {
            remove(name)
        }
        settings.append(Setting(name: name, words: words, isOfFile: isOfFile))
    }

    /// Options that say the same in two ways.
    private static let kin: [Set<String>] = [
        ["loop", "loop-times"], ["loop-playlist", "list-turns"], ["keep-open", "keep-open-always"], ["idle", "idle-once"],
    ]

    /// Forgets the option, its opposite and its kin.
    private mutating func remove(_ name: String) {
        let opposite = name.hasPrefix("no-") ? String(name.dropFirst(3)) : "no-\(name)"
        let kin = Self.kin.first { $0.contains(name) } ?? []
        settings.removeAll { $0.name == name || $0.name == opposite || kin.contains($0.name) }
    }
}
