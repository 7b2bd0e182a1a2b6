public import DisplaySink
internal import JSON
internal import PlaySupport

/// What keys do: commands of the remote control's grammar, as mpv's `input.conf` binds them.
///
///     # comment
///     RIGHT seek 5
///     Ctrl+g no-osd seek -30 ; show-text "back"
///     q ignore
///
/// Thread-safety: a value.
public struct KeyBindings: Sendable {
    /// A line that binds nothing.
    public struct Fault: Sendable, Hashable {
        /// Counted from 1.
        public var line: Int
        /// A sentence for people, without the point at its end.
        public var reason: String
    }

    private var commands: [PlayerKey: [CommandText.Command]] = [:]

    /// Binds no key, or each as in mpv.
    ///
    /// - Parameter standard: Whether keys mean what they mean in mpv without a file.
    public init(standard: Bool = true) {
        guard standard else { return }
        let faults = add(Self.standardText)
        precondition(faults.isEmpty, "the bindings of the program itself make sense")
    }

    /// Adds the bindings of a file, which replace those of the same keys.
    ///
    /// - Returns: The lines that make no sense; they are left out.
    public mutating func add(_ text: String) -> [Fault] {
        var faults: [Fault] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.drop { $0 == " " || $0 == "\t" }
            if words.isEmpty || words.hasPrefix("#") { continue }
            let name = words.prefix { $0 != " " && $0 != "\t" }
            do throws(Reason) { try bind(String(name), String(words.dropFirst(name.count))) } catch {
                faults.append(Fault(line: index + 1, reason: error.text))
            }
        }
        return faults
    }

    private struct Reason: Error { let text: String }

    private mutating func bind(_ name: String, _ text: String) throws(Reason) {
        guard let key = PlayerKey(mpvName: name) else { throw Reason(text: "there is no key \(name)") }
        guard let found = CommandText.orders(in: text) else { throw Reason(text: "the quotation has no end") }
        guard !found.isEmpty else { throw Reason(text: "the key \(name) has no command") }
        for command in found {
            guard RemoteCommand.isBindable(command.words[0]) else { throw Reason(text: "there is no command \(command.words[0])") }
            if ["set", "add", "cycle", "multiply", "cycle-values"].contains(command.words[0]) {
                guard command.words.count > 1 else { throw Reason(text: "\(command.words[0]) needs the name of a property") }
                let property = command.words[1]
                guard RemoteProperties.settable.contains(property) || ["sub", "audio"].contains(property) else {
                    throw Reason(text: "there is no property \(property) that can be set")
                }
            }
        }
        commands[key] = found
    }

    /// What a key orders, one command after the other; empty where it does nothing.
    public func orders(for key: PlayerKey) -> [KeyOrder] { commands[key, default: []].map { KeyOrder(command: $0) } }

    /// The names of keys that a file may bind, beside the characters that keys type.
    public static let keyNames = PlayerKey.names + ["SHARP"]

    /// The names of the commands that a file may bind keys to, in the order of the alphabet.
    public static let commandNames = RemoteCommand.names.filter { RemoteCommand.isBindable($0) }

    /// The bindings without a file, as one would write them: those of mpv's manual that mean something here, and keys of the number pad.
    public static let standardText = """
        SPACE cycle pause
        p cycle pause
        PLAY cycle pause
        PAUSE cycle pause
        PLAYPAUSE cycle pause
        q quit
        Q quit-watch-later
        STOP quit
        ESC leave
        f cycle fullscreen
        RIGHT seek 5
        LEFT seek -5
        UP seek 60
        DOWN seek -60
        Shift+RIGHT seek 1
        Shift+LEFT seek -1
        Shift+UP seek 5
        Shift+DOWN seek -5
        FORWARD seek 60
        REWIND seek -60
        END seek-to-live
        PGUP add chapter 1
        PGDWN add chapter -1
        . frame-step
        , frame-back-step
        > playlist-next
        ENTER playlist-next
        KP_ENTER playlist-next
        NEXT playlist-next
        < playlist-prev
        PREV playlist-prev
        [ multiply speed 0.9091
        ] multiply speed 1.1
        { multiply speed 0.5
        } multiply speed 2.0
        BS set speed 1.0
        9 add volume -2
        / add volume -2
        KP9 add volume -2
        VOLUME_DOWN add volume -2
        0 add volume 2
        * add volume 2
        KP0 add volume 2
        VOLUME_UP add volume 2
        m cycle mute
        MUTE cycle mute
        1 add contrast -1
        2 add contrast 1
        3 add brightness -1
        4 add brightness 1
        5 add gamma -1
        6 add gamma 1
        7 add saturation -1
        8 add saturation 1
        w add panscan -0.1
        W add panscan +0.1
        e add panscan +0.1
        A cycle-values video-aspect-override "16:9" "4:3" "2.35:1" "-1"
        Alt++ add video-zoom 0.1
        Alt+- add video-zoom -0.1
        Alt+LEFT add video-pan-x 0.1
        Alt+RIGHT add video-pan-x -0.1
        Alt+UP add video-pan-y 0.1
        Alt+DOWN add video-pan-y -0.1
        Alt+BS set video-zoom 0; no-osd set panscan 0; no-osd set video-pan-x 0; no-osd set video-pan-y 0
        SHARP cycle audio
        Ctrl++ add audio-delay +0.1
        Ctrl+- add audio-delay -0.1
        j cycle sub
        J cycle sub down
        v cycle sub-visibility
        d cycle deinterlace
        z add sub-delay -0.1
        Z add sub-delay +0.1
        x add sub-delay +0.1
        r add sub-pos -1
        R add sub-pos +1
        t add sub-pos +1
        G add sub-scale +0.1
        F add sub-scale -0.1
        s screenshot
        S screenshot video
        l ab-loop
        L cycle-values loop-file "inf" "no"
        o show-progress
        P show-progress
        O no-osd cycle-values osd-level 3 1
        F8 show-text ${playlist} 5000
        F9 show-text ${track-list} 5000
        i script-binding stats/display-stats
        I script-binding stats/display-stats-toggle

        """
}

/// One command of a key.
///
/// Thread-safety: a value.
public struct KeyOrder: Sendable {
    let command: CommandText.Command

    /// What is to be done; nil where the command makes no sense at this moment.
    public func actions(_ snapshot: RemoteSnapshot) -> [RemoteAction]? {
        let words = command.words.map { JSONValue.string(CommandText.expanded($0, snapshot)) }
        return try? RemoteCommand.actions(words, snapshot)
    }

    /// What the viewer is shown of an action that has been carried out.
    ///
    /// - Parameter snapshot: What the program does since.
    public func reply(to action: RemoteAction, _ snapshot: RemoteSnapshot) -> ScreenReply { action.reply(snapshot).limited(to: command.manner) }
}
