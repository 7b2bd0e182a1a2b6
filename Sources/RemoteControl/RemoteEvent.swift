internal import JSON
internal import PlaySupport

/// What remote controls are told of, by the names of mpv's manual.
public enum RemoteEvent: Sendable, Hashable {
    /// How a film ended.
    public enum Reason: String, Sendable, Hashable {
        /// It was played to its end.
        case eof
        /// The viewer went on to another film.
        case stop
        /// The viewer ended the program.
        case quit
        /// It could not be played.
        case error
    }

    /// The film with this number of the list, from 0, is being opened.
    case startFile(entry: Int)
    /// The film is open.
    case fileLoaded
    /// A seek begins.
    case seek
    /// Playback begins, or goes on after a seek.
    case playbackRestart
    /// The film with this number has ended, and why, in words where it failed.
    case endFile(Reason, entry: Int, error: String?)
    /// Nothing plays, and a film is waited for.
    case idle
    /// A remote control has sent these words to all.
    case clientMessage([String])
    /// The program ends.
    case shutdown

    var name: String {
        switch self {
        case .startFile: "start-file"
        case .fileLoaded: "file-loaded"
        case .seek: "seek"
        case .playbackRestart: "playback-restart"
        case .endFile: "end-file"
        case .idle: "idle"
        case .clientMessage: "client-message"
        case .shutdown: "shutdown"
        }
    }

    var line: String {
        var members = [JSONValue.Member("event", .string(name))]
        switch self {
        case .startFile(let entry): members.append(JSONValue.Member("playlist_entry_id", .integer(Int64(entry + 1))))
        case .endFile(let reason, let entry, let error):
            members += [JSONValue.Member("reason", .string(reason.rawValue)), JSONValue.Member("playlist_entry_id", .integer(Int64(entry + 1)))]
            if let error { members.append(JSONValue.Member("file_error", .string(error))) }
        case .clientMessage(let words): members.append(JSONValue.Member("args", .array(words.map { .string($0) })))
        default: break
        }
        return JSONValue.object(members).text
    }
}
