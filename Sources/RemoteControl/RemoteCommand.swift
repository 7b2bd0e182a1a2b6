public import DisplaySink
internal import JSON
public import Media
public import PixelConversion
internal import PlaySupport

/// What a remote control wants done, for the program to carry out.
public enum RemoteAction: Sendable, Hashable {
    /// Where a film of `load` goes.
    public enum Place: Sendable, Hashable {
        /// It plays at once, and the rest of the list is forgotten.
        case instead
        /// After the film that plays; `plays` begins it when nothing plays.
        case afterCurrent(plays: Bool)
        /// After the last film of the list; `plays` begins it when nothing plays.
        case atEnd(plays: Bool)
    }

    /// A change of the list. Films are named by their places in it, from 0.
    public enum ListEdit: Sendable, Hashable {
        /// Forgets all but the film that plays.
        case clear
        /// Takes a film away; the one that plays ends.
        case remove(Int)
        /// Moves a film before another one, or with the number of films to the end.
        case move(Int, before: Int)
        /// Plays the films in a random order, or in that of the list.
        case shuffle, unshuffle
    }

    /// Holds time, or lets it run.
    case setPaused(Bool)
    /// Goes to a time in seconds from the beginning.
    case seek(to: Double)
    /// Moves by so many seconds.
    case seekBy(Double)
    /// Pauses and shows the next or the previous frame.
    case stepForward, stepBackward
    /// Media seconds a second, 0.1 to 16.
    case setSpeed(Double)
    /// 0 to 1.
    case setVolume(Double)
    /// Switches the sound off or on.
    case setMuted(Bool)
    /// Fills the monitor, or returns to a window.
    case setFullscreen(Bool)
    /// Goes to a chapter, counted from 0, or so many chapters on.
    case goToChapter(index: Int), moveChapter(by: Int)
    /// Plays the sound so many seconds later; plays this track of it, counted from 1, or the one so many places on.
    case setAudioDelay(Double), setSound(Int), cycleSound(by: Int)
    /// Shows these subtitles, counted from 1; nil: none. Or those so many places on in the list, in which none stands, too.
    case setSubtitle(Int?), cycleSubtitles(by: Int)
    /// Shows or hides the chosen subtitles, and makes them come so many seconds later.
    case setSubtitlesVisible(Bool), setSubtitleDelay(Double)
    /// Changes how films fit the display.
    case setFraming(FramingChange)
    /// Sets a control of the display's brightness and colours.
    case setColor(ColorBalance.Control, Int)
    /// Deinterlaces nothing, what is marked as interlaced, or all: `no`, `auto`, `yes`.
    case setDeinterlacing(String)
    /// Plays a live film from where its sender is.
    case seekToLive
    /// Goes to the frame that was made then.
    case seekToDate(ProgramDate)
    /// Plays the next film. `ends`: after the last one the program ends; otherwise it is an error.
    case next(ends: Bool)
    /// Plays the film before.
    case previous
    /// Plays the film with this number, from 0.
    case play(index: Int)
    /// Plays or adds a film, or the films of a list, which `isList` says of a file with any name.
    case load(String, Place, isList: Bool)
    /// Changes the list.
    case editList(ListEdit)
    /// Ends the film and forgets the list; without `--idle` ends the program.
    case stop
    /// Each film begins again so many times; `Int.max`: for ever.
    case setLoopCount(Int)
    /// The list begins again so many more times; `Int.max`: for ever.
    case setListTurns(Int)
    /// Ends the program with this exit code; or keeps before where the film is left.
    case quit(code: Int32), quitWatchLater(code: Int32)
    /// Keeps where the film is, or forgets where this one was left.
    case writeWatchLater, deleteWatchLater(String)
    /// Moves subtitles of text: 100 is the lower edge, 0 the upper one. Or makes them so many times as large.
    case setSubtitlePosition(Double), setSubtitleScale(Double)
    /// Writes a text to the terminal.
    case show(String)
    /// Shows a text over the film, for so many seconds or as long as any, where the level of what is shown there is not below this one.
    case showText(String, seconds: Double?, level: Int)
    /// Shows where the film is.
    case showProgress
    /// Shows a page of statistics for a while; `toggles`: until this is ordered again.
    case showStatistics(toggles: Bool)
    /// How much is shown over the film by itself, 0 (nothing) to 3.
    case setScreenLevel(Int)
    /// Writes what is shown as a file, with the subtitles or without.
    case takeScreenshot(hasSubtitles: Bool)
    /// The same as this file, in place of one that is there. Whoever wants to know is answered with the ticket: `RemoteDesk.answer`.
    case saveScreenshot(path: String, hasSubtitles: Bool, RemoteTicket?)
    /// Marks the beginning of the part that is repeated, then its end, then takes both marks away. Or sets one, in seconds; nil takes it away.
    case markLoop, setLoopStart(Double?), setLoopEnd(Double?)
    /// Leaves full screen; where there is none, ends the program.
    case leave
    /// Does what this key does.
    case key(PlayerKey)
    /// Tells every remote control these words.
    case message([String])
}

/// The commands of mpv's manual that exist here, and what they mean.
enum RemoteCommand {
    /// The names, in the order of the alphabet.
    static let names: [String] = (Array(parsers.keys) + RemoteClientState.commands).sorted()

    private typealias Parser = @Sendable ([JSONValue], RemoteSnapshot) throws(RemoteError) -> [RemoteAction]

    /// Whether a key can be bound to a command of this name.
    static func isBindable(_ name: String) -> Bool { parsers[name] != nil }

    /// What a command orders; throws where its arguments make no sense.
    static func actions(_ words: [JSONValue], _ snapshot: RemoteSnapshot) throws(RemoteError) -> [RemoteAction] {
        guard case .string(let name)? = words.first, let parser = parsers[name] else { throw .invalidParameter }
        return try parser(Array(words.dropFirst()), snapshot)
    }

    private static let parsers: [String: Parser] = [
        "seek": { (words, snapshot) throws(RemoteError) in [try seek(words, snapshot)] },
        "frame-step": { (_, snapshot) throws(RemoteError) in [try playing(snapshot, .stepForward)] },
        "frame-back-step": { (_, snapshot) throws(RemoteError) in [try playing(snapshot, .stepBackward)] },
        "set": { (words, snapshot) throws(RemoteError) in
            guard words.count == 2, case .string(let name) = words[0] else { throw .invalidParameter }
            return [try RemoteChange.action(setting: name, to: words[1], snapshot)]
        },
        "cycle": { (words, snapshot) throws(RemoteError) in
            guard (1...2).contains(words.count), case .string(let name) = words[0] else { throw .invalidParameter }
            let isDown = words.count == 2 && words[1] == .string("down")
            return [try RemoteChange.action(cycling: name, isDown: isDown, snapshot)]
        },
        "add": { (words, snapshot) throws(RemoteError) in
            guard (1...2).contains(words.count), case .string(let name) = words[0] else { throw .invalidParameter }
            return [try RemoteChange.action(adding: words.count == 2 ? try number(words[1]) : 1, to: name, snapshot)]
        },
        "multiply": { (words, snapshot) throws(RemoteError) in
            guard words.count == 2, case .string(let name) = words[0] else { throw .invalidParameter }
            return [try RemoteChange.action(multiplying: name, by: try number(words[1]), snapshot)]
        },
        "playlist-next": { (words, _) in [.next(ends: words.first == .string("force"))] },
        "playlist-prev": { (_, _) in [.previous] },
        "playlist-play-index": { (words, snapshot) throws(RemoteError) in
            guard let word = words.first else { throw .invalidParameter }
            if word == .string("current") { return [.play(index: snapshot.entry ?? 0)] }
            return [try RemoteChange.action(setting: "playlist-pos", to: word, snapshot)]
        },
        "loadfile": { (words, _) throws(RemoteError) in [try load(words, isList: false)] },
        "loadlist": { (words, _) throws(RemoteError) in [try load(words, isList: true)] },
        "playlist-clear": { (_, _) in [.editList(.clear)] },
        "playlist-remove": { (words, snapshot) throws(RemoteError) in
            guard words.count == 1 else { throw .invalidParameter }
            guard words[0] != .string("current") else {
                guard let entry = snapshot.entry else { throw .command }
                return [.editList(.remove(entry))]
            }
            return [.editList(.remove(try place(words[0], below: snapshot.entries.count)))]
        },
        "playlist-move": { (words, snapshot) throws(RemoteError) in
            guard words.count == 2 else { throw .invalidParameter }
            let count = snapshot.entries.count
            return [.editList(.move(try place(words[0], below: count), before: min(try place(words[1], below: .max), count)))]
        },
        "playlist-shuffle": { (_, _) in [.editList(.shuffle)] },
        "playlist-unshuffle": { (_, _) in [.editList(.unshuffle)] },
        "quit": { (words, _) throws(RemoteError) in [.quit(code: try code(words.first))] },
        "quit-watch-later": { (words, _) throws(RemoteError) in [.quitWatchLater(code: try code(words.first))] },
        "write-watch-later-config": { (_, snapshot) throws(RemoteError) in [try playing(snapshot, .writeWatchLater)] },
        "delete-watch-later-config": { (words, snapshot) throws(RemoteError) in
            guard let name = words.first.map(RemoteProperties.text) ?? snapshot.path else { throw .command }
            return [.deleteWatchLater(name)]
        },
        "stop": { (_, _) in [.stop] },
        "show-text": { (words, _) throws(RemoteError) in
            // In milliseconds; -1: as long as any.
            let length = words.count > 1 ? try number(words[1]) : -1, level = words.count > 2 ? try number(words[2]) : 0
            guard words.count <= 3, (0...3).contains(level), length <= 86_400_000 else { throw .invalidParameter }
            return [.showText(try text(words.first), seconds: length < 0 ? nil : length / 1000, level: Int(level))]
        },
        "print-text": { (words, _) throws(RemoteError) in [.show(try text(words.first))] },
        "show-progress": { (_, _) in [.showProgress] },
        "script-binding": { (words, _) throws(RemoteError) in
            switch try text(words.first) {
            case "stats/display-stats": return [.showStatistics(toggles: false)]
            case "stats/display-stats-toggle": return [.showStatistics(toggles: true)]
            default: throw .invalidParameter
            }
        },
        "cycle-values": { (words, snapshot) throws(RemoteError) in
            // `!reverse` goes through the values backwards.
            let isDown = words.first == .string("!reverse"), words = isDown ? Array(words.dropFirst()) : words
            guard words.count > 1, case .string(let name) = words[0] else { throw .invalidParameter }
            let values = words.dropFirst().map(RemoteProperties.text), now = try RemoteProperties.value(of: name, snapshot)
            let place = values.firstIndex { RemoteProperties.isSame($0, now) }
            let next = place.map { ($0 + (isDown ? values.count - 1 : 1)) % values.count } ?? (isDown ? values.count - 1 : 0)
            return [try RemoteChange.action(setting: name, to: .string(values[next]), snapshot)]
        },
        "screenshot": { (words, snapshot) throws(RemoteError) in
            guard words.count <= 1, snapshot.position != nil else { throw .invalidParameter }
            switch words.first.map(RemoteProperties.text) ?? "subtitles" {
            case "subtitles": return [.takeScreenshot(hasSubtitles: true)]
            case "video": return [.takeScreenshot(hasSubtitles: false)]
            default: throw .invalidParameter
            }
        },
        "screenshot-to-file": { (words, snapshot) throws(RemoteError) in
            guard (1...2).contains(words.count), snapshot.position != nil, case .string(let path) = words[0], !path.isEmpty else {
                throw .invalidParameter
            }
            switch words.dropFirst().first.map(RemoteProperties.text) ?? "subtitles" {
            case "subtitles": return [.saveScreenshot(path: path, hasSubtitles: true, nil)]
            case "video": return [.saveScreenshot(path: path, hasSubtitles: false, nil)]
            default: throw .invalidParameter
            }
        },
        "seek-to-live": { (_, snapshot) throws(RemoteError) in
            guard snapshot.isLive else { throw .command }
            return [.seekToLive]
        },
        "ab-loop": { (_, snapshot) throws(RemoteError) in [try playing(snapshot, .markLoop)] },
        "leave": { (_, _) in [.leave] },
        "keypress": { (words, _) throws(RemoteError) in
            guard let key = PlayerKey(mpvName: try text(words.first)) else { throw .invalidParameter }
            return [.key(key)]
        },
        "script-message": { (words, _) in [.message(words.map(RemoteProperties.text))] },
        "ignore": { (_, _) in [] },
    ]

    private static func load(_ words: [JSONValue], isList: Bool) throws(RemoteError) -> RemoteAction {
        guard case .string(let name)? = words.first, !name.isEmpty else { throw .invalidParameter }
        let place: RemoteAction.Place? =
            switch words.dropFirst().first.map(RemoteProperties.text) ?? "replace" {
            case "replace": .instead
            case "append": .atEnd(plays: false)
            case "append-play": .atEnd(plays: true)
            case "insert-next": .afterCurrent(plays: false)
            case "insert-next-play": .afterCurrent(plays: true)
            default: nil
            }
        guard let place else { throw .invalidParameter }
        return .load(name, place, isList: isList)
    }

    /// A place in the list.
    private static func place(_ value: JSONValue, below limit: Int) throws(RemoteError) -> Int {
        guard let place = Int(exactly: try number(value)), place >= 0 else { throw .invalidParameter }
        guard place < limit else { throw .command }
        return place
    }

    private static func seek(_ words: [JSONValue], _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        guard let target = words.first else { throw .invalidParameter }
        let amount = try number(target)
        var flags: Set<String> = []
        for word in words.dropFirst() { flags.formUnion(RemoteProperties.text(word).split(separator: "+").map(String.init)) }
        // Every seek here is exact.
        let manner = flags.subtracting(["keyframes", "exact"])
        guard manner.count <= 1, let position = snapshot.position else { throw manner.count > 1 ? .invalidParameter : .command }
        switch manner.first ?? "relative" {
        case "relative": return .seekBy(amount)
        case "absolute":
            // Below zero: from the end.
            guard amount < 0 else { return .seek(to: amount) }
            guard let duration = snapshot.duration else { throw .command }
            return .seek(to: max(duration + amount, 0))
        case "absolute-percent", "relative-percent":
            guard let duration = snapshot.duration else { throw .command }
            let time = duration * amount / 100
            return .seek(to: max(manner.first == "absolute-percent" ? time : position + time, 0))
        default: throw .invalidParameter
        }
    }

    private static func playing(_ snapshot: RemoteSnapshot, _ action: RemoteAction) throws(RemoteError) -> RemoteAction {
        guard snapshot.position != nil else { throw .command }
        return action
    }

    /// A finite number, also one that is written as text.
    static func number(_ value: JSONValue) throws(RemoteError) -> Double {
        let number: Double? =
            switch value {
            case .integer(let whole): Double(whole)
            case .number(let number): number
            case .string(let text): Double(text)
            default: nil
            }
        guard let number, number.isFinite else { throw .invalidParameter }
        return number
    }

    /// An exit code; without one 0.
    private static func code(_ word: JSONValue?) throws(RemoteError) -> Int32 {
        let code = try word.map { (word) throws(RemoteError) in try number(word) } ?? 0
        guard (0...255).contains(code) else { throw .invalidParameter }
        return Int32(code)
    }

    private static func text(_ value: JSONValue?) throws(RemoteError) -> String {
        guard let value else { throw .invalidParameter }
        return RemoteProperties.text(value)
    }
}
