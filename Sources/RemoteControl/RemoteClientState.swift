internal import JSON
internal import PlaySupport

/// What is remembered of one remote control: the properties that it watches, and the events that it does not want.
///
/// A pure value: requests and snapshots go in, lines to send and actions to carry out come back.
struct RemoteClientState: Sendable {
    private struct Observation: Sendable {
        var id: JSONValue
        var name: String
        /// The value goes out as text.
        var isText: Bool
        /// The value that was sent last; nil: none yet.
        var last: JSONValue?
    }

    /// What follows from a request.
    struct Outcome {
        /// The answer; nil: a text gets none, and what takes a while is answered when it is done.
        var reply: String?
        var actions: [RemoteAction] = []
    }

    /// Its number.
    private let client: Int
    /// The name that `client_name` answers.
    var name: String { "ipc-\(client)" }
    private var observations: [Observation] = []
    private var disabled: Set<String> = []
    private var disablesAll = false
    /// Enough for every property, watched several times; what a program asks for is kept until it goes.
    private static let observationLimit = 1000

    init(client: Int) { self.client = client }

    /// The commands that concern the remote control itself.
    static let commands = [
        "client_name", "get_time_us", "get_version", "get_property", "get_property_string", "set_property", "set_property_string", "observe_property",
        "observe_property_string", "unobserve_property", "request_log_messages", "enable_event", "disable_event", "expand-text",
    ]

    /// Whether anything is watched.
    var observes: Bool { !observations.isEmpty }

    /// Decides what a request means.
    ///
    /// - Parameter now: the time for `get_time_us`, in microseconds.
    mutating func take(_ request: RemoteRequest, _ snapshot: RemoteSnapshot, now: Int64) -> Outcome {
        var outcome = Outcome(), answer: Result<JSONValue, RemoteError>
        do throws(RemoteError) {
            if let own = try own(request.words, snapshot, now: now, &outcome.actions) {
                answer = .success(own)
            } else {
                var words = request.words
                // In texts properties are named within words; JSON's words are as they are.
                if request.id == nil { words = words.map { Self.expanded($0, snapshot) } }
                outcome.actions = try RemoteCommand.actions(words, snapshot)
                answer = .success(.null)
            }
        } catch { answer = .failure(error) }
        guard let id = request.id else { return outcome }
        // The answer follows.
        if case .saveScreenshot(let path, let hasSubtitles, nil)? = outcome.actions.first {
            outcome.actions = [.saveScreenshot(path: path, hasSubtitles: hasSubtitles, RemoteTicket(client: client, id: id))]
            return outcome
        }
        outcome.reply = RemoteReply.line(answer, id: id)
        return outcome
    }

    /// The properties that have changed since they were told last.
    mutating func news(_ snapshot: RemoteSnapshot) -> [String] {
        var lines: [String] = []
        for index in observations.indices {
            let observation = observations[index]
            let found = try? RemoteProperties.value(of: observation.name, snapshot)
            let value = observation.isText ? found.map { .string(RemoteProperties.text($0)) } : found
            guard observation.last != (value ?? .null) else { continue }
            observations[index].last = value ?? .null
            guard !isDisabled("property-change") else { continue }
            var members = [
                JSONValue.Member("event", "property-change"), JSONValue.Member("id", observation.id),
                JSONValue.Member("name", .string(observation.name)),
            ]
            if let value { members.append(JSONValue.Member("data", value)) }
            lines.append(JSONValue.object(members).text)
        }
        return lines
    }

    /// An event; nil when it is not wanted.
    func line(_ event: RemoteEvent) -> String? { isDisabled(event.name) ? nil : event.line }

    private func isDisabled(_ event: String) -> Bool { disablesAll || disabled.contains(event) }

    private mutating func own(
        _ words: [JSONValue], _ snapshot: RemoteSnapshot, now: Int64, _ actions: inout [RemoteAction]
    ) throws(RemoteError) -> JSONValue? {
        guard case .string(let command)? = words.first else { throw .invalidParameter }
        switch command {
        case "client_name": return .string(name)
        case "get_time_us": return .integer(now)
        // The version of mpv's client interface whose protocol this is: 2.1.
        case "get_version": return .integer(2 << 16 | 1)
        case "get_property": return try RemoteProperties.value(of: try Self.text(words, 1), snapshot)
        case "get_property_string": return .string(RemoteProperties.text(try RemoteProperties.value(of: try Self.text(words, 1), snapshot)))
        case "set_property", "set_property_string":
            guard words.count == 3 else { throw .invalidParameter }
            actions = [try RemoteChange.action(setting: try Self.text(words, 1), to: words[2], snapshot)]
            return .null
        case "observe_property", "observe_property_string":
            guard words.count == 3, case .integer = words[1], observations.count < Self.observationLimit else { throw .invalidParameter }
            observations.append(Observation(id: words[1], name: try Self.text(words, 2), isText: command == "observe_property_string"))
            return .null
        case "unobserve_property":
            guard words.count == 2, case .integer = words[1] else { throw .invalidParameter }
            observations.removeAll { $0.id == words[1] }
            return .null
        // Nothing is logged to remote controls, at whatever level.
        case "request_log_messages": return .null
        case "enable_event", "disable_event":
            let event = try Self.text(words, 1), isOff = command == "disable_event"
            if event == "all" {
                disablesAll = isOff
                disabled = []
            } else if isOff {
                disabled.insert(event)
            } else {
                disabled.remove(event)
            }
            return .null
        case "expand-text": return .string(CommandText.expanded(try Self.text(words, 1), snapshot))
        default: return nil
        }
    }

    private static func text(_ words: [JSONValue], _ index: Int) throws(RemoteError) -> String {
        guard words.count > index, case .string(let text) = words[index] else { throw .invalidParameter }
        return text
    }

    private static func expanded(_ word: JSONValue, _ snapshot: RemoteSnapshot) -> JSONValue {
        guard case .string(let text) = word else { return word }
        return .string(CommandText.expanded(text, snapshot))
    }
}
