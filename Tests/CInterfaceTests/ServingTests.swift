import CScanout
import FilmReference
import Foundation
import TestSupport
import Testing

/// A film that plays as fast as its exporter's frames are taken, until this object ends.
@safe
private final class Playing {
    private let player: OpaquePointer?

    init(_ film: String, into exporter: OpaquePointer?) throws {
        var opened: OpaquePointer?
        let exporters = unsafe [exporter]
        let result = unsafe exporters.withUnsafeBufferPointer { exporters in
            var options = unsafe scanout_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
            unsafe options.output = SCANOUT_OUTPUT_UNTIMED.rawValue
            unsafe options.is_silent = 1
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = 1
            return unsafe scanout_open(TestAssets.path(film), &options, &opened, nil, 0)
        }
        try #require(result == SCANOUT_OK)
        unsafe player = opened
    }

    deinit { unsafe scanout_close(player) }
}

/// Frames that a C program serves to another one.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct ServingTests {
    private static func program() throws -> String { try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/serving.c") }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test(arguments: [["plain.mp4"], ["hevc-10bit.mp4", "plain.mp4", "crop.mp4"]])
    func `another program gets every frame of the films, one after the other on one socket`(_ films: [String]) throws {
        let program = try Self.program(), paths = films.map { TestAssets.path($0) }, socket = ProcessFolder.path("serving-\(films.count).sock")
        let script = """
            program=$1 socket=$2
            shift 2
            "$program" serve "$socket" "$@" &
            "$program" take "$socket"
            code=$?
            wait $! && exit $code
            """
        let outcome = try Tool.run("sh", ["-c", script, "sh", program, socket] + paths)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let direct = try Tool.run(program, ["direct"] + paths), expected = Self.lines(direct.output)
        #expect(direct.code == 0 && expected.count >= 20 && Self.lines(outcome.output) == expected, "\(outcome.output.count) \(direct.errors)")
        #expect(outcome.errors.contains("1 served, \(expected.count) sent, 0 skipped"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func `a socket that cannot be made has a sentence`() throws {
        let outcome = try Tool.run(Self.program(), ["serve", "/nonexistent/socket", TestAssets.path("plain.mp4")])
        #expect(outcome.code == 73 && outcome.errors.contains("/nonexistent/socket: cannot serve frames here: "), "\(outcome.errors)")
    }

    @Test func `clients get what the server wishes for, since they cannot say it themselves`() throws {
        let place = ProcessFolder.path("wishes.sock"), formats = Array("nv12".utf8CString)
        var frames = unsafe scanout_exporter_options(), server: OpaquePointer?
        unsafe frames.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        unsafe (frames.width, frames.height) = (160, 90)
        func make(budget: UInt32) -> scanout_result {
            unsafe frames.budget = budget
            return unsafe formats.withUnsafeBufferPointer { formats in
                unsafe frames.formats = formats.baseAddress
                return unsafe withUnsafePointer(to: frames) { frames in
                    var options = unsafe scanout_server_options()
                    unsafe options.size = UInt32(MemoryLayout<scanout_server_options>.size)
                    unsafe options.sends_every_frame = 1
                    unsafe options.frames = frames
                    return unsafe scanout_server_new(place, &options, &server, nil, 0)
                }
            }
        }
        // How clients take frames is no wish.
        #expect(make(budget: 2) == SCANOUT_ERROR_ARGUMENT)
        try #require(make(budget: 0) == SCANOUT_OK)
        defer { unsafe scanout_server_close(server) }
        var remote: OpaquePointer?
        let player = try unsafe Playing("plain.mp4", into: scanout_server_exporter(server))
        defer { withExtendedLifetime(player) {} }
        try #require(unsafe scanout_remote_open(place, &remote, nil, 0) == SCANOUT_OK)
        defer { unsafe scanout_remote_close(remote) }
        var count = 0, frame: OpaquePointer?
        while unsafe scanout_remote_wait(remote, 60_000_000_000, &frame) == SCANOUT_OK {
            let held = unsafe Held(frame)
            #expect(held.info.visible_width == 160 && held.info.visible_height == 90 && held.info.plane_count == 2)
            #expect(held.info.memory == SCANOUT_MEMORY_UNKNOWN.rawValue && held.info.device == 0)
            count += 1
        }
        let expected = try FilmReference.sums(TestAssets.path("plain.mp4")).count
        #expect(count == expected)
    }

    @Test func `films with names are for programs that ask for them`() throws {
        let place = ProcessFolder.path("named.sock")
        var server: OpaquePointer?, wishes = unsafe scanout_server_options()
        unsafe wishes.size = UInt32(MemoryLayout<scanout_server_options>.size)
        unsafe wishes.sends_every_frame = 1
        try #require(unsafe scanout_server_new(place, &wishes, &server, nil, 0) == SCANOUT_OK)
        defer { unsafe scanout_server_close(server) }
        var players: [Playing] = []
        defer { players.removeAll() }
        for (name, film) in [("a", "plain.mp4"), ("b", "crop.mp4")] {
            var exporter: OpaquePointer?, again: OpaquePointer?
            try #require(unsafe scanout_server_add(server, name, nil, &exporter) == SCANOUT_OK)
            #expect(unsafe scanout_server_add(server, name, nil, &again) == SCANOUT_ERROR_ARGUMENT && again == nil)
            players.append(try unsafe Playing(film, into: exporter))
        }
        var names = [CChar](repeating: 1, count: 5)
        #expect(unsafe scanout_remote_get_films(place, &names, 4) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_remote_get_films(place, &names, 5) == SCANOUT_OK && names == [97, 0, 98, 0, 0])
        var message = [CChar](repeating: 0, count: 200), remote: OpaquePointer?
        #expect(unsafe scanout_remote_open_film(place, "c", &remote, &message, message.count) == SCANOUT_ERROR_OPEN)
        let sentence = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(sentence == "\(place): there is no film \"c\"; there is \"a\", \"b\".")
        for (name, film) in [("b", "crop.mp4"), ("a", "plain.mp4")] {
            try #require(unsafe scanout_remote_open_film(place, name, &remote, nil, 0) == SCANOUT_OK)
            defer { unsafe scanout_remote_close(remote) }
            var sums: [String] = [], frame: OpaquePointer?
            while unsafe scanout_remote_wait(remote, 60_000_000_000, &frame) == SCANOUT_OK {
                unsafe sums.append(Checksum.md5(Held(frame).visibleBytes))
            }
            let expected = try FilmReference.sums(TestAssets.path(film))
            #expect(sums == expected, "\(name)")
        }
        #expect(unsafe scanout_server_remove(server, "a") == SCANOUT_OK && scanout_server_remove(server, "x") == SCANOUT_OK)
    }
}
