import CScanout
import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// Opening that neither blocks the program nor can get stuck, and states as events, through the C interface.
@Suite struct OpeningTests {
    private static func opening(_ location: String, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, startsPaused: Bool = false) throws -> Film {
        try unsafe Film(output: output, startsPaused: startsPaused, opensAsync: true) { unsafe scanout_open(location, $0, $1, $2, $3) }
    }

    @Test func `a film is opened meanwhile, and each state is an event`() throws {
        let path = TestAssets.path("plain.mp4"), film = try Self.opening(path)
        var sums: [String] = []
        while let frame = film.next() { sums.append(frame.md5) }
        #expect(try sums == FilmReference.sums(path))
        let events = film.events(until: SCANOUT_EVENT_ENDED)
        #expect(events.filter { $0.kind == SCANOUT_EVENT_OPENED.rawValue }.count == 1)
        let opened = try #require(events.firstIndex { $0.kind == SCANOUT_EVENT_OPENED.rawValue })
        #expect(Array(events[..<opened]).states == [SCANOUT_STATE_OPENING.rawValue], "the film is open before it is prepared")
        let rest = film.event(timeout: 60_000_000_000).map { [$0] } ?? []
        let states = [SCANOUT_STATE_OPENING, SCANOUT_STATE_PREPARING, SCANOUT_STATE_PLAYING, SCANOUT_STATE_ENDED].map(\.rawValue)
        #expect((events + rest).states == states)
        #expect(unsafe scanout_state(film.player) == SCANOUT_STATE_ENDED.rawValue)
    }

    @Test func `pausing and playing are states`() throws {
        let film = try Self.opening(TestAssets.demo, output: SCANOUT_OUTPUT_NONE, startsPaused: true)
        func wait(for state: scanout_state_value) -> Bool {
            while let event = film.event(timeout: 60_000_000_000) { if event.state == state.rawValue { return true } }
            return false
        }
        #expect(unsafe wait(for: SCANOUT_STATE_PAUSED) && scanout_play(film.player) == SCANOUT_OK)
        #expect(unsafe wait(for: SCANOUT_STATE_PLAYING) && scanout_pause(film.player) == SCANOUT_OK)
        #expect(unsafe wait(for: SCANOUT_STATE_PAUSED) && scanout_seek(film.player, 1_000_000_000) == 1)
        #expect(wait(for: SCANOUT_STATE_PREPARING) && wait(for: SCANOUT_STATE_PAUSED))
    }

    @Test(arguments: SilentSource.Kind.allCases)
    func `an opening that hangs ends when another thread cancels it, with a sentence, and its exporters with it`(_ kind: SilentSource.Kind) throws {
        let source = SilentSource(kind), film = try Self.opening(source.location)
        #expect(unsafe scanout_state(film.player) == SCANOUT_STATE_OPENING.rawValue)
        let other = LoopThread(name: "cancel") { #expect(unsafe scanout_cancel_open(film.player) == SCANOUT_OK) }
        let events = film.events(until: SCANOUT_EVENT_FAILED)
        other.join()
        let failure = try #require(events.last)
        #expect(failure.kind == SCANOUT_EVENT_FAILED.rawValue && failure.result == SCANOUT_ERROR_CANCELLED.rawValue)
        #expect(failure.sentence.hasPrefix(source.location + ": "), "\(failure.sentence)")
        #expect(events.states == [SCANOUT_STATE_OPENING, SCANOUT_STATE_IDLE].map(\.rawValue))
        var frame: OpaquePointer?
        #expect(unsafe scanout_exporter_wait(film.exporter, -1, &frame) == SCANOUT_END)
    }

    @Test(arguments: SilentSource.Kind.allCases) func `a player that is opening is closed`(_ kind: SilentSource.Kind) throws {
        let source = SilentSource(kind)
        for _ in 0..<5 {
            let film = try Self.opening(source.location)
            film.close()
            var frame: OpaquePointer?
            #expect(unsafe scanout_exporter_wait(film.exporter, -1, &frame) == SCANOUT_END)
        }
    }

    @Test func `cancelling does nothing to a film that is open`() throws {
        let path = TestAssets.path("plain.mp4"), film = try Self.opening(path)
        _ = film.events(until: SCANOUT_EVENT_OPENED)
        #expect(unsafe scanout_cancel_open(film.player) == SCANOUT_OK)
        var count = 0
        while film.next() != nil { count += 1 }
        #expect(try count == FilmReference.sums(path).count)
    }

    @Test(arguments: [("/nonexistent/film.mp4", SCANOUT_ERROR_OPEN), (TestAssets.root + "/README.md", SCANOUT_ERROR_DATA)])
    func `what cannot be opened is told as an event`(_ path: String, _ result: scanout_result) throws {
        let film = try Self.opening(path), failure = film.events(until: SCANOUT_EVENT_FAILED).last
        #expect(failure?.result == result.rawValue && failure?.sentence.hasPrefix(path) == true)
        #expect(unsafe film.next() == nil && scanout_state(film.player) == SCANOUT_STATE_IDLE.rawValue)
    }

    @Test func `arguments and displays that make no sense fail at once`() {
        let refusal = #expect(throws: Film.Refusal.self) { try Self.opening("film.mp4", output: scanout_output(rawValue: 99)) }
        #expect(refusal?.result == SCANOUT_ERROR_ARGUMENT && refusal?.message.contains("99") == true)
    }

    /// The film comes through a FIFO, so that it is certain that it was not open when the commands were given.
    @Test func `commands that come before the film is open take effect when it is`() throws {
        let source = SilentSource(.fifo), film = try Self.opening(source.location)
        #expect(unsafe scanout_pause(film.player) == SCANOUT_OK && scanout_seek(film.player, 0) == 1)
        #expect(unsafe scanout_state(film.player) == SCANOUT_STATE_OPENING.rawValue)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path("av1.mkv")))
        let writer = LoopThread(name: "writer") {
            let pipe = unsafe open(source.location, O_WRONLY | O_CLOEXEC)
            _ = unsafe bytes.withUnsafeBytes { unsafe write(pipe, $0.baseAddress, $0.count) }
            close(pipe)
        }
        #expect(film.events(until: SCANOUT_EVENT_SOUGHT).last?.serial == 1)
        #expect(unsafe film.next()?.info.serial == 1 && scanout_is_playing(film.player) == 0)
        film.close()
        writer.join()
    }

    /// Who opened it only to look would let the writer begin, and take its first bytes away.
    @Test func `a FIFO is opened once`() throws {
        let source = SilentSource(.fifo), bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path("av1.mkv")))
        let watch = OwnedFD(adopting: inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
        #expect(unsafe inotify_add_watch(watch.rawValue, source.location, UInt32(IN_OPEN | IN_CLOSE_NOWRITE)) >= 0)
        let film = try Self.opening(source.location)
        let pipe = OwnedFD(adopting: unsafe open(source.location, O_WRONLY | O_CLOEXEC))
        // The whole film fits into the pipe.
        #expect(unsafe bytes.withUnsafeBytes { unsafe write(pipe.rawValue, $0.baseAddress, $0.count) } == bytes.count)
        _ = consume pipe
        var sums: [String] = []
        while let frame = film.next() { sums.append(frame.md5) }
        #expect(try sums == FilmReference.sums(TestAssets.path("av1.mkv")))
        film.close()
        // Events of one kind that follow one another are told as one, so the ends are counted.
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
        defer { unsafe room.deallocate() }
        let count = unsafe read(watch.rawValue, room.baseAddress, room.count), size = MemoryLayout<inotify_event>.size
        let masks = stride(from: 0, to: count, by: size).map { unsafe room.load(fromByteOffset: $0, as: inotify_event.self).mask }
        #expect(masks.count { $0 & UInt32(IN_CLOSE_NOWRITE) != 0 } == 1)
    }

    @Test func `a server that stops in mid-film makes the film wait, and then go on, which are events and counted`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo))), gate = LyingServer.Gate()
        let server = LyingServer { request in
            .file(bytes, request).pausing(after: bytes.count / 4 - (request.rangeStart ?? 0), until: gate)
        }
        defer { server.stop() }
        defer { gate.open() }
        let film = try unsafe Film(output: SCANOUT_OUTPUT_NONE, policy: SCANOUT_POLICY_DROP_OLDEST) {
            unsafe scanout_open(server.address("film.mp4"), $0, $1, $2, $3)
        }
        #expect(unsafe scanout_set_rate(film.player, 8) == SCANOUT_OK)
        var events: [scanout_event] = []
        while events.last?.kind != SCANOUT_EVENT_ENDED.rawValue, let event = film.event(timeout: 60_000_000_000) {
            events.append(event)
            if event.state == SCANOUT_STATE_WAITING.rawValue { gate.open() }
        }
        let expected = [SCANOUT_STATE_OPENING, SCANOUT_STATE_PREPARING, SCANOUT_STATE_PLAYING, SCANOUT_STATE_WAITING, SCANOUT_STATE_PLAYING]
        #expect(events.states.starts(with: expected.map(\.rawValue)), "\(events.states)")
        var statistics = scanout_statistics()
        statistics.size = UInt32(MemoryLayout<scanout_statistics>.size)
        #expect(unsafe scanout_get_statistics(film.player, &statistics) == SCANOUT_OK)
        #expect(statistics.stalls == events.states.count { $0 == SCANOUT_STATE_WAITING.rawValue } && statistics.stalled > 0)
        #expect(statistics.frames_decoded == 300 && statistics.frames_shown + statistics.frames_dropped == 300)
    }
}
