import PlaySupport
import Testing

@testable import RemoteControl

@Suite struct RemoteClientTests {
    /// Takes a line as the desk does; the answers.
    private func take(_ line: String, _ state: inout RemoteClientState, _ snapshot: RemoteSnapshot = playing) -> (
        replies: [String], actions: [RemoteAction]
    ) {
        switch RemoteRequest.requests(in: Array(line.utf8)) {
        case .failure(let refusal): return (refusal.id.map { [RemoteReply.line(.failure(.invalidParameter), id: $0)] } ?? [], [])
        case .success(let requests):
            let outcomes = requests.map { state.take($0, snapshot, now: 42) }
            return (outcomes.compactMap(\.reply), outcomes.flatMap(\.actions))
        }
    }

    @Test(arguments: [
        (#"{ "command": ["get_property", "time-pos"] }"#, #"{"data": 30, "request_id": 0, "error": "success"}"#),
        (#"{ "command": ["get_property", "time-pos"], "request_id": 100 }"#, #"{"data": 30, "request_id": 100, "error": "success"}"#),
        (#"{"command":["get_property_string","time-pos"]}"#, #"{"data": "30.000000", "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","pause"]}"#, #"{"data": false, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property_string","pause"]}"#, #"{"data": "no", "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","filename/no-ext"]}"#, #"{"data": "b.tar", "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","playlist-count"]}"#, #"{"data": 3, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","playlist/1/current"]}"#, #"{"data": true, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","playlist/7/filename"]}"#, #"{"request_id": 0, "error": "property unavailable"}"#),
        (#"{"command":["get_property","chapter"]}"#, #"{"data": 1, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","chapters"]}"#, #"{"data": 3, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","chapter-list/1/time"]}"#, #"{"data": 25, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","track-list/3/lang"]}"#, #"{"data": "de", "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","track-list/0/lang"]}"#, #"{"request_id": 0, "error": "property unavailable"}"#),
        (#"{"command":["get_property","aid"]}"#, #"{"data": 2, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","vid"]}"#, #"{"data": false, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","sid"]}"#, #"{"data": false, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_property","nonsense"]}"#, #"{"request_id": 0, "error": "property not found"}"#),
        (#"{"command":["get_property","cache-used"]}"#, #"{"request_id": 0, "error": "property unavailable"}"#),
        (#"{"command":["set_property","pause",true]}"#, #"{"data": null, "request_id": 0, "error": "success"}"#),
        (#"{"command":["nonsense"]}"#, #"{"request_id": 0, "error": "invalid parameter"}"#),
        (#"{"command":"pause"}"#, #"{"request_id": 0, "error": "invalid parameter"}"#),
        (#"{"command":[]}"#, #"{"request_id": 0, "error": "invalid parameter"}"#), ("{", #"{"request_id": 0, "error": "invalid parameter"}"#),
        (#"{"command":["client_name"],"request_id":-3}"#, #"{"data": "ipc-1", "request_id": -3, "error": "success"}"#),
        (#"{"command":["get_time_us"]}"#, #"{"data": 42, "request_id": 0, "error": "success"}"#),
        (#"{"command":["get_version"]}"#, #"{"data": 131073, "request_id": 0, "error": "success"}"#),
        (#"{"command":["expand-text","${path}"]}"#, #"{"data": "/films/b.tar.mkv", "request_id": 0, "error": "success"}"#),
        (#"{"command":["request_log_messages","info"]}"#, #"{"data": null, "request_id": 0, "error": "success"}"#),
    ])
    func `a request is answered as mpv answers it`(_ line: String, _ answer: String) {
        var state = RemoteClientState(client: 1)
        #expect(take(line, &state).replies == [answer])
    }

    private static let spoken: [(RemoteSubtitles?, String, String)] = [
        (nil, "sub-text", #""error": "property unavailable""#), (nil, "sub-start", #""error": "property unavailable""#),
        (RemoteSubtitles(), "sub-text", #""data": """#), (RemoteSubtitles(), "sub-text/ass", #""data": """#),
        (RemoteSubtitles(), "sub-end", #""error": "property unavailable""#),
        (RemoteSubtitles(text: "a\nb", ass: #"{\i1}a\Nb"#, start: 1.5, end: 2), "sub-text", #""data": "a\nb""#),
        (RemoteSubtitles(text: "a\nb", ass: #"{\i1}a\Nb"#, start: 1.5, end: 2), "sub-text-ass", #""data": "{\\i1}a\\Nb""#),
        (RemoteSubtitles(text: "a", ass: "a", start: 1.5, end: 2), "sub-start", #""data": 1.5"#),
        (RemoteSubtitles(text: "a", ass: "a", start: 1.5, end: nil), "sub-end", #""error": "property unavailable""#),
    ]

    @Test(arguments: spoken.indices) func `what subtitles say is a property`(_ index: Int) throws {
        let (subtitles, name, answer) = Self.spoken[index]
        var state = RemoteClientState(client: 1), snapshot = playing
        snapshot.subtitles = subtitles
        let reply = try #require(take(#"{"command":["get_property","\#(name)"]}"#, &state, snapshot).replies.first)
        #expect(reply.contains(answer), "\(reply)")
    }

    @Test func `a text gets no answer, and its properties stand for their values`() {
        var state = RemoteClientState(client: 1)
        let outcome = take("show-text ${playback-time}; cycle pause", &state)
        #expect(outcome.replies.isEmpty && outcome.actions == [.showText("00:00:30", seconds: nil, level: 0), .setPaused(true)])
        #expect(take("# nothing", &state).actions.isEmpty)
        #expect(take("explode", &state).replies.isEmpty)
        // JSON's words are as they are.
        #expect(take(#"{"command":["show-text","${path}"]}"#, &state).actions == [.showText("${path}", seconds: nil, level: 0)])
    }

    @Test func `what is watched is told at once, and then when it changes`() {
        var state = RemoteClientState(client: 1), snapshot = playing
        #expect(!state.observes)
        _ = take(#"{"command":["observe_property",1,"volume"]}"#, &state)
        _ = take(#"{"command":["observe_property_string",2,"pause"]}"#, &state)
        _ = take(#"{"command":["observe_property",3,"cache-used"]}"#, &state)
        #expect(state.observes)
        #expect(
            state.news(snapshot) == [
                #"{"event": "property-change", "id": 1, "name": "volume", "data": 50}"#,
                #"{"event": "property-change", "id": 2, "name": "pause", "data": "no"}"#,
                #"{"event": "property-change", "id": 3, "name": "cache-used"}"#,
            ])
        #expect(state.news(snapshot).isEmpty)
        snapshot.volume = 0.25
        snapshot.bytesCached = 7
        #expect(
            state.news(snapshot) == [
                #"{"event": "property-change", "id": 1, "name": "volume", "data": 25}"#,
                #"{"event": "property-change", "id": 3, "name": "cache-used", "data": 7}"#,
            ])
        _ = take(#"{"command":["unobserve_property",1]}"#, &state)
        snapshot.volume = 1
        #expect(state.news(snapshot).isEmpty)
    }

    @Test func `events that are not wanted are not told`() {
        var state = RemoteClientState(client: 1)
        #expect(state.line(.startFile(entry: 0)) == #"{"event": "start-file", "playlist_entry_id": 1}"#)
        #expect(
            state.line(.endFile(.error, entry: 1, error: "no such file"))
                == #"{"event": "end-file", "reason": "error", "playlist_entry_id": 2, "file_error": "no such file"}"#)
        #expect(state.line(.clientMessage(["a", "b"])) == #"{"event": "client-message", "args": ["a", "b"]}"#)
        _ = take(#"{"command":["disable_event","seek"]}"#, &state)
        #expect(state.line(.seek) == nil && state.line(.playbackRestart) != nil)
        _ = take(#"{"command":["disable_event","all"]}"#, &state)
        #expect(state.line(.shutdown) == nil)
        _ = take(#"{"command":["enable_event","all"]}"#, &state)
        #expect(state.line(.seek) != nil)
    }

    @Test func `every name of the list of properties is one`() {
        for name in RemoteProperties.names {
            do throws(RemoteError) { _ = try RemoteProperties.value(of: name, playing) } catch { #expect(error == .propertyUnavailable, "\(name)") }
        }
        for name in ["pause", "time-pos", "command-list", "property-list", "mpv-version"] { #expect(RemoteProperties.names.contains(name)) }
        for name in ["seek", "observe_property", "quit", "loadfile"] { #expect(RemoteCommand.names.contains(name)) }
    }
}
