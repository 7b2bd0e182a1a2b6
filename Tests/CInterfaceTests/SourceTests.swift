import CScanout
import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// A film that a C program's functions read, and how they may fail.
@safe
private final class Reel: @unchecked Sendable {
    enum Fault: Sendable, Equatable {
        case none
        /// Answers with this number at the byte.
        case answers(Int64, at: Int)
        /// Says that it has so many bytes.
        case says(Int)
        /// Blocks at the byte until it is cancelled.
        case blocks(at: Int)
        case cannotSeek
    }

    struct State: Sendable {
        var position = 0
        var calls = 0
        var isBlocked = false
        var isCancelled = false
    }

    let bytes: [UInt8]
    let fault: Fault
    let state = Monitor(State())

    init(_ path: String, _ fault: Fault = .none) throws {
        bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        self.fault = fault
    }

    var stream: scanout_stream {
        var stream = unsafe scanout_stream()
        unsafe stream.size = UInt32(MemoryLayout<scanout_stream>.size)
        unsafe stream.context = Unmanaged.passUnretained(self).toOpaque()
        unsafe stream.read = { unsafe Reel.of($0).read(UnsafeMutableRawBufferPointer(start: $1, count: $2)) }
        unsafe stream.seek = { unsafe Reel.of($0).seek($1) }
        unsafe stream.byte_count = { unsafe Reel.of($0).byteCount }
        unsafe stream.cancel = { unsafe Reel.of($0).state.change { $0.isCancelled = true } }
        return unsafe stream
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Reel {
        let reel = unsafe Unmanaged<Reel>.fromOpaque(context!).takeUnretainedValue()
        reel.state.withLock { $0.calls += 1 }
        return reel
    }

    private func read(_ target: UnsafeMutableRawBufferPointer) -> Int64 {
        let place = state.withLock { $0.position }
        var end = min(place + min(target.count, 1000), bytes.count)
        switch fault {
        case .answers(let answer, let byte):
            if place >= byte { return answer }
            end = min(end, byte)
        case .blocks(let byte):
            if place >= byte {
                state.change { $0.isBlocked = true }
                let _: Void? = state.wait { $0.isCancelled ? () : nil }
                return -4
            }
            end = min(end, byte)
        case .none, .says, .cannotSeek: break
        }
        guard end > place else { return 0 }
        unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<end])) }
        state.withLock { $0.position = end }
        return Int64(end - place)
    }

    private func seek(_ offset: Int64) -> Int64 {
        if fault == .cannotSeek { return -29 }
        state.withLock { $0.position = Int(offset) }
        return 0
    }

    private var byteCount: Int64 { if case .says(let count) = fault { Int64(count) } else { Int64(bytes.count) } }

    func open(opensAsync: Bool = false, output: scanout_output = SCANOUT_OUTPUT_UNTIMED) throws -> Film {
        let film = try unsafe Film(output: output, opensAsync: opensAsync) { options, player, message, size in
            var stream = unsafe stream
            return unsafe scanout_open_stream(&stream, "the reel", options, player, message, size)
        }
        film.source = self
        return film
    }
}

/// Films from descriptors, memory and functions through the C interface. `sources.c` compares the frames of all of them.
@Suite struct SourceTests {
    /// The index stands behind the frames.
    private static let film = TestAssets.path("plain.mp4")

    private static func front(_ ending: String) throws -> String { try FilmReference.copy(of: film, as: ending) }

    /// The frames of a film, and the event that ended it.
    private static func play(_ film: Film) -> (sums: [String], outcome: scanout_event?) {
        var sums: [String] = []
        while let frame = film.next() { sums.append(frame.md5) }
        while let event = film.event(timeout: 60_000_000_000) {
            if [SCANOUT_EVENT_ENDED, SCANOUT_EVENT_FAILED].map(\.rawValue).contains(event.kind) { return (sums, event) }
        }
        return (sums, nil)
    }

    @Test(arguments: ["mp4", "mkv", "ts"]) func `functions that cannot seek are read like a pipe`(_ ending: String) throws {
        let path = try Self.front(ending), (sums, outcome) = try Self.play(Reel(path, .cannotSeek).open())
        #expect(try sums == FilmReference.sums(path) && outcome?.kind == SCANOUT_EVENT_ENDED.rawValue)
    }

    @Test(arguments: ["mp4", "mkv", "ts"]) func `a film that functions read is sought in`(_ ending: String) throws {
        let path = try Self.front(ending), film = try Reel(path).open(), all = try FilmReference.sums(path)
        while film.next() != nil {}
        for _ in 0..<3 {
            #expect(unsafe scanout_seek(film.player, 500_000_000) > 0)
            let first = try #require(film.next())
            let index = try #require(all.firstIndex(of: first.md5))
            #expect(abs(first.info.film_time - 500_000_000) <= 40_000_000 && index > 10)
            var count = 1
            while film.next() != nil { count += 1 }
            #expect(count == all.count - index)
        }
    }

    @Test(arguments: [-5, 1_000_000] as [Int64]) func `a read that fails ends the film with a sentence`(_ answer: Int64) throws {
        let path = try Self.front("mkv"), reel = try Reel(path, .answers(answer, at: 8000)), film = try reel.open()
        let (sums, outcome) = Self.play(film), all = try FilmReference.sums(path)
        #expect(!sums.isEmpty && sums.count < all.count && sums == Array(all.prefix(sums.count)))
        #expect(outcome?.result == SCANOUT_ERROR_DATA.rawValue)
        let sentence = outcome?.sentence ?? ""
        #expect(sentence.hasPrefix("the reel: ends at "), "\(sentence)")
        #expect(sentence.contains(answer < 0 ? "read returned -5 (Input/output error)" : "returned 1000000 where at most"), "\(sentence)")
    }

    @Test func `a read that fails at once is a refusal`() throws {
        let refusal = try #require(throws: Film.Refusal.self) { try Reel(Self.film, .answers(-13, at: 0)).open() }
        #expect(refusal.result == SCANOUT_ERROR_OPEN, "\(refusal)")
        #expect(refusal.message.hasPrefix("the reel: ") && refusal.message.contains("read returned -13 (Permission denied)"), "\(refusal)")
    }

    @Test(arguments: ["mp4", "mkv", "ts"]) func `fewer bytes than were promised are told when all that came has been played`(_ ending: String) throws
    {
        let path = try Self.front(ending), reel = try Reel(path, .says(1_000_000))
        let (sums, outcome) = try Self.play(reel.open())
        #expect(try sums == FilmReference.sums(path) && outcome?.result == SCANOUT_ERROR_DATA.rawValue)
        #expect(outcome?.sentence.contains("its source ends at byte") == true, "\(outcome?.sentence ?? "")")
    }

    @Test func `what lies beyond the bytes that were promised is not read`() throws {
        let path = try Self.front("mkv"), reel = try Reel(path, .says(8000))
        let (sums, outcome) = try Self.play(reel.open()), all = try FilmReference.sums(path)
        #expect(sums.count < all.count && outcome?.result == SCANOUT_ERROR_DATA.rawValue, "\(outcome?.sentence ?? "")")
        // The index lies there.
        #expect(throws: Film.Refusal.self) { try Reel(Self.film, .says(8000)).open() }
    }

    @Test(arguments: [true, false]) func `a read that blocks while the film is opened ends by cancelling and by closing`(_ cancels: Bool) throws {
        let reel = try Reel(Self.film, .blocks(at: 2000)), film = try reel.open(opensAsync: true)
        let _: Void? = reel.state.wait { $0.isBlocked ? () : nil }
        if cancels {
            #expect(unsafe scanout_cancel_open(film.player) == SCANOUT_OK)
            let failure = film.events(until: SCANOUT_EVENT_FAILED).last
            #expect(failure?.result == SCANOUT_ERROR_CANCELLED.rawValue && failure?.sentence.hasPrefix("the reel: ") == true)
        }
        film.close()
        let calls = reel.state.withLock { $0.calls }
        #expect(reel.state.withLock { $0.isCancelled })
        #expect(Polling.holds(for: .milliseconds(20)) { reel.state.withLock { $0.calls } == calls }, "nothing is called after scanout_close")
    }

    @Test func `a read that blocks in mid-film ends when the player is closed`() throws {
        let reel = try Reel(Self.front("mkv"), .blocks(at: 8000)), film = try reel.open()
        #expect(film.next() != nil)
        let _: Void? = reel.state.wait { $0.isBlocked ? () : nil }
        film.close()
        #expect(reel.state.withLock { $0.isCancelled })
    }

    @Test func `a pipe that nobody writes to is opened meanwhile, and closed`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let film = try unsafe Film(opensAsync: true) { unsafe scanout_open_fd(ends[0], nil, $0, $1, $2, $3) }
        #expect(unsafe scanout_cancel_open(film.player) == SCANOUT_OK)
        let failure = film.events(until: SCANOUT_EVENT_FAILED).last
        #expect(failure?.result == SCANOUT_ERROR_CANCELLED.rawValue && failure?.sentence.hasPrefix("descriptor \(ends[0]): ") == true)
    }

    @Test func `what is no film, no descriptor and no function is refused`() throws {
        func refusal(_ opener: Film.Opener) throws -> Film.Refusal {
            try #require(throws: Film.Refusal.self) { try unsafe Film(open: opener) }
        }
        let zeros = [UInt8](repeating: 0, count: 5000), folder = unsafe open("/tmp", O_RDONLY | O_CLOEXEC)
        let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [folder, null] { close(descriptor) } }
        for descriptor in [-1, folder, null] {
            let refused = try unsafe refusal { unsafe scanout_open_fd(descriptor, "it", $0, $1, $2, $3) }
            #expect(refused.result == SCANOUT_ERROR_OPEN && refused.message.hasPrefix("it: cannot read"), "\(refused)")
        }
        #expect(try unsafe refusal { unsafe scanout_open_memory(nil, 5, nil, $0, $1, $2, $3) }.result == SCANOUT_ERROR_ARGUMENT)
        #expect(try unsafe refusal { unsafe scanout_open_memory(zeros, 0, nil, $0, $1, $2, $3) }.result == SCANOUT_ERROR_DATA)
        let noFilm = try unsafe refusal { unsafe scanout_open_memory(zeros, zeros.count, "zeros.bin", $0, $1, $2, $3) }
        #expect(noFilm.result == SCANOUT_ERROR_DATA && noFilm.message.hasPrefix("zeros.bin: "), "\(noFilm)")
        #expect(try unsafe refusal { unsafe scanout_open_stream(nil, nil, $0, $1, $2, $3) }.result == SCANOUT_ERROR_ARGUMENT)
        var stream = unsafe scanout_stream()
        for size in unsafe [0, UInt32(MemoryLayout<scanout_stream>.size)] {
            unsafe stream.size = size
            let refused = try unsafe refusal { unsafe scanout_open_stream(&stream, nil, $0, $1, $2, $3) }
            #expect(refused.result == SCANOUT_ERROR_ARGUMENT && refused.message.contains("scanout_stream"), "\(refused)")
        }
    }

    @Test func `a camera that is not there, or is asked for what makes no sense, is refused`() throws {
        func refusal(_ name: String, _ change: (inout scanout_camera) -> Void) throws -> Film.Refusal {
            var camera = scanout_camera()
            camera.size = UInt32(MemoryLayout<scanout_camera>.size)
            change(&camera)
            return try #require(throws: Film.Refusal.self) { try unsafe Film { unsafe scanout_open_camera(name, &camera, $0, $1, $2, $3) } }
        }
        let missing = try refusal("no such camera") { _ in }
        #expect(missing.result == SCANOUT_ERROR_DEVICE && missing.message.hasPrefix("There is no camera"), "\(missing)")
        let path = try refusal("/dev/no-video") { $0.reconnects = 1 }
        #expect(path == Film.Refusal(result: SCANOUT_ERROR_DEVICE, message: "/dev/no-video: there is no such device."))
        let changes: [(inout scanout_camera) -> Void] = [
            { $0.size = 0 }, { $0.width = 640 }, { $0.height = 480 }, { $0.rate_numerator = 30 }, { $0.rate_denominator = 1 },
            { ($0.width, $0.height) = (70_000, 480) }, { ($0.rate_numerator, $0.rate_denominator) = (.max, 1) }, { $0.reserved = 1 },
        ]
        for change in changes {
            let refused = try refusal("/dev/no-video", change)
            #expect(refused.result == SCANOUT_ERROR_ARGUMENT && refused.message.contains("scanout_camera"), "\(refused)")
        }
    }

    /// It would lead the player to files that the program never named.
    @Test func `a list of other files opens none of them`() throws {
        let list = Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n\(Self.film)\n#EXT-X-ENDLIST\n".utf8)
        let refusal = #expect(throws: Film.Refusal.self) {
            try unsafe Film { unsafe scanout_open_memory(list, list.count, "list.m3u8", $0, $1, $2, $3) }
        }
        #expect(refusal?.message.hasPrefix("list.m3u8: ") == true, "\(refusal?.message ?? "")")
    }
}
