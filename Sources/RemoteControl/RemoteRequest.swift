internal import JSON
internal import PlaySupport

/// One line that a remote control has sent: a JSON object with a command, or a command as mpv's `input.conf` writes it.
///
/// The protocol is that of mpv's `--input-ipc-server`, described in its manual under *JSON IPC*.
struct RemoteRequest: Sendable, Hashable {
    /// The command's name and its arguments.
    var words: [JSONValue]
    /// The number in the answer; nil: the line is text, which gets none.
    var id: Int64?

    /// Reads a line without its end.
    ///
    /// - Returns: One request of JSON, or the commands of a text. None for an empty line and for a comment.
    static func requests(in line: [UInt8]) -> Result<[RemoteRequest], Refusal> {
        guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), first != UInt8(ascii: "#") else { return .success([]) }
        guard first == UInt8(ascii: "{") else {
            guard let commands = CommandText.commands(in: String(decoding: line, as: UTF8.self)) else { return .failure(Refusal(id: nil)) }
            return .success(commands.map { RemoteRequest(words: $0.map { .string($0) }, id: nil) })
        }
        guard let object = try? JSONValue(parsing: line) else { return .failure(Refusal(id: 0)) }
        var id: Int64 = 0
        if let given = object["request_id"] {
            guard case .integer(let number) = given else { return .failure(Refusal(id: 0)) }
            id = number
        }
        guard case .array(let words)? = object["command"], case .string? = words.first else { return .failure(Refusal(id: id)) }
        return .success([RemoteRequest(words: words, id: id)])
    }

    /// A line that is no request; nil: it is not answered.
    struct Refusal: Error, Hashable { var id: Int64? }
}

/// The answer to a request.
enum RemoteReply {
    static func line(_ outcome: Result<JSONValue, RemoteError>, id: Int64) -> String {
        var members: [JSONValue.Member] = [], word = "success"
        switch outcome {
        case .success(let data): members.append(JSONValue.Member("data", data))
        case .failure(let error): word = error.rawValue
        }
        members += [JSONValue.Member("request_id", .integer(id)), JSONValue.Member("error", .string(word))]
        return JSONValue.object(members).text
    }
}
