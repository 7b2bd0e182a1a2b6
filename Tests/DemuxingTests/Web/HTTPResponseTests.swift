import Glibc
import Media
import TestSupport
import Testing
import Web

/// Requests to a real server, which answers as none should, and the connections that stay.
@Suite struct HTTPResponseTests {
    private static let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) }

    private static func settings(silence: HostSpan = .seconds(10)) -> HTTPSettings {
        var settings = HTTPSettings(silence: silence)
        settings.proxy = ""
        return settings
    }

    private static func open(
        _ address: String, from offset: Int64 = 0, by client: HTTPClient, silence: HostSpan = .seconds(10), patience: HostSpan = .seconds(20),
        isOver: @escaping () -> Bool = { false }
    ) throws(HTTPFailure) -> HTTPResponse {
        try HTTPResponse(of: address, from: offset, settings(silence: silence), by: client, patience: patience, isOver: isOver)
    }

    private static func read(_ response: HTTPResponse, atMost limit: Int = .max) throws -> [UInt8] {
        var all: [UInt8] = [], part = [UInt8](repeating: 0, count: 5000)
        while all.count < limit {
            let count = try unsafe part.withUnsafeMutableBytes { unsafe try response.read(into: $0) }
            if count == 0 { break }
            all += part[..<count]
        }
        return all
    }

    @Test func `one connection serves requests one after the other`() throws {
        let server = LyingServer { request in
            var answer =
                request.path == "none"
                ? LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 7"], body: Array("nothing".utf8))
                : LyingServer.Answer.file(Self.body, request)
            answer.ending = .keep
            return answer
        }
        defer { server.stop() }
        let client = HTTPClient()
        for offset in [0, 10, 99_999] as [Int64] {
            let response = try Self.open(server.address("a"), from: offset, by: client)
            #expect(response.isSeekable && response.byteCount == 100_000 && response.location == nil && response.position == offset)
            #expect(try Self.read(response) == Array(Self.body[Int(offset)...]) && response.position == 100_000)
            #expect(throws: HTTPFailure.status(404)) { try Self.open(server.address("none"), by: client) }
        }
        #expect(server.requests.count == 6 && Set(server.requests.map(\.connection)).count == 1, "\(server.requests.map(\.connection))")
    }

    @Test func `what is broken off is not taken for the next answer, and two at once have two connections`() throws {
        let server = LyingServer { request in
            var answer = LyingServer.Answer.file(Self.body, request)
            answer.ending = .keep
            return answer
        }
        defer { server.stop() }
        let client = HTTPClient()
        do {
            let one = try Self.open(server.address("a"), by: client), other = try Self.open(server.address("a"), from: 50_000, by: client)
            #expect(try Self.read(one, atMost: 10).prefix(10) == Self.body.prefix(10))
            #expect(try Self.read(other) == Array(Self.body[50_000...]))
        }
        #expect(try Self.read(Self.open(server.address("a"), from: 7, by: client)) == Array(Self.body[7...]))
        #expect(Set(server.requests.map(\.connection)).count == 2 && server.requests.count == 3, "\(server.requests.map(\.connection))")
    }

    @Test func `a connection that the server has closed meanwhile is not missed`() throws {
        let server = LyingServer { .file(Self.body, $0) }
        defer { server.stop() }
        let client = HTTPClient()
        for _ in 0..<5 { #expect(try Self.read(Self.open(server.address("a"), by: client)) == Self.body) }
        #expect(server.requests.count == 5)
    }

    private static let wrong: [(name: String, answer: LyingServer.Answer, failure: HTTPFailure)] = [
        ("endless head", .init(headers: ["X: " + String(repeating: "x", count: 90_000)] + (0..<40_000).map { "Y\($0): y" }), .notHTTP),
        ("an endless line", .init(headers: ["X: " + String(repeating: "x", count: 150_000)]), .notHTTP),
        ("another part", .init(status: "206 Partial Content", headers: ["Content-Range: bytes 5-9/100", "Content-Length: 5"]), .beginsElsewhere),
        ("a circle", .init(status: "302 Found", headers: ["Location: /again", "Content-Length: 0"]), .tooManyRedirects),
        ("a file", .init(status: "302 Found", headers: ["Location: file:///etc/passwd", "Content-Length: 0"]), .leadsElsewhere),
        ("another protocol", .init(status: "307 Go", headers: ["Location: ftp://127.0.0.1/", "Content-Length: 0"]), .leadsElsewhere),
        ("a redirect to nowhere", .init(status: "302 Found", headers: ["Content-Length: 0"]), .status(302)),
        ("a refusal that never ends", .init(status: "451 No", headers: ["Content-Length: 1000"], body: [1], ending: .stall), .status(451)),
    ]

    @Test(arguments: wrong.indices) func `an answer that is none has its own failure`(_ index: Int) throws {
        let (name, answer, failure) = Self.wrong[index]
        let server = LyingServer { _ in answer }
        defer { server.stop() }
        #expect(throws: failure, "\(name)") { try Self.open(server.address("a"), by: HTTPClient()) }
    }

    @Test func `what is no web server, or none at all, is told apart`() throws {
        let other = ByteSender(Array("SSH-2.0-OpenSSH_9.2\r\nhow do you do\r\n".utf8))
        defer { other.stop() }
        #expect(throws: HTTPFailure.notHTTP) { try Self.open(other.address("http") + "/", by: HTTPClient()) }
        #expect(throws: HTTPFailure.handshake) { try Self.open(other.address("https") + "/", by: HTTPClient()) }
        let gone = LyingServer { .file([], $0) }
        gone.stop()
        #expect(throws: HTTPFailure.refused) { try Self.open(gone.address("a"), by: HTTPClient()) }
        #expect(throws: HTTPFailure.unknownHost) { try Self.open("http://no-such-host.invalid/", by: HTTPClient()) }
        for address in ["http://", "http://h:99999/", "file:///etc/passwd", "dict://127.0.0.1/x"] {
            #expect(throws: HTTPFailure.self, "\(address)") { try Self.open(address, by: HTTPClient()) }
        }
    }

    @Test func `silence ends, before the answer and in it`() throws {
        let server = LyingServer { request in
            .file(Self.body, request).cut(after: request.path == "part" ? 1000 : 0, .stall)
        }
        defer { server.stop() }
        let silent = ByteSender(Array("HTTP/1.1 200 OK\r\nX: ".utf8))
        defer { silent.stop() }
        #expect(throws: HTTPFailure.timedOut) { try Self.open(silent.address("http") + "/", by: HTTPClient(), silence: .milliseconds(300)) }
        #expect(throws: HTTPFailure.timedOut) {
            try Self.open(silent.address("http") + "/", by: HTTPClient(), patience: .milliseconds(300))
        }
        // Long enough for the first thousand bytes of a busy machine.
        let response = try Self.open(server.address("part"), by: HTTPClient(), silence: .seconds(2))
        #expect(try Self.read(response, atMost: 1000) == Array(Self.body[..<1000]))
        #expect(throws: HTTPFailure.timedOut) { try Self.read(response) }
    }

    @Test func `who does not wait any more gets an end`() throws {
        let silent = ByteSender([])
        defer { silent.stop() }
        let since = MonotonicClock.shared.now()
        #expect(throws: HTTPFailure.cancelled) {
            try Self.open(silent.address("http") + "/", by: HTTPClient()) { MonotonicClock.shared.now() - since > .milliseconds(100) }
        }
    }

    @Test func `an answer without a length ends where it says so, and is broken where it does not`() throws {
        let whole = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
        for (text, isWhole) in [(whole, true), (String(whole.dropLast(7)), false)] {
            let server = LyingServer { _ in LyingServer.Answer(headers: ["Transfer-Encoding: chunked"], body: Array(text.utf8)) }
            defer { server.stop() }
            let response = try Self.open(server.address("a"), by: HTTPClient())
            #expect(response.byteCount == nil && !response.isSeekable)
            if isWhole {
                #expect(try Self.read(response) == Array("hello world".utf8))
            } else {
                #expect(throws: HTTPFailure.broken) { try Self.read(response) }
            }
        }
        let cut = LyingServer { .file(Self.body, $0).cut(after: 5000) }
        defer { cut.stop() }
        let response = try Self.open(cut.address("a"), by: HTTPClient())
        #expect(try Self.read(response, atMost: 5000) == Array(Self.body[..<5000]))
        #expect(throws: HTTPFailure.broken) { try Self.read(response) }
    }

    @Test func `connections are closed in programs that this one starts`() throws {
        let server = LyingServer { .file(Self.body, $0).cut(after: 10, .stall) }
        defer { server.stop() }
        let response = try Self.open(server.address("a"), by: HTTPClient())
        let connections = (3..<1024).filter { Self.port(ofPeerOf: Int32($0)) == server.port }
        #expect(!connections.isEmpty && connections.allSatisfy { fcntl(Int32($0), F_GETFD) & FD_CLOEXEC != 0 })
        #expect(try Self.read(response, atMost: 10).count == 10)
    }

    /// nil for what is no connection.
    private static func port(ofPeerOf descriptor: Int32) -> UInt16? {
        var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getpeername(descriptor, $0, &length) }
        }
        return status == 0 && Int32(address.sin_family) == AF_INET ? UInt16(bigEndian: address.sin_port) : nil
    }

    @Test func `what a server packs without being asked is unpacked`() throws {
        // "hello world" by gzip.
        let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0x28, 0xCF, 0x2F, 0xCA, 0x49, 1, 0, 0x85, 0x11, 0x4A, 0x0D, 11, 0,
            0, 0,
        ]
        let server = LyingServer { _ in
            LyingServer.Answer(headers: ["Content-Encoding: gzip", "Accept-Ranges: bytes", "Content-Length: \(packed.count)"], body: packed)
        }
        defer { server.stop() }
        let response = try Self.open(server.address("a"), by: HTTPClient())
        #expect(response.byteCount == nil && !response.isSeekable)
        #expect(try Self.read(response) == Array("hello world".utf8))
        #expect(server.requests.first?.headers["accept-encoding"] == "identity")
    }
}
