import Foundation
import Media
import TestSupport
import Testing

@testable import Demuxing

/// A film that is fetched ahead of its reader, from a real server that fails.
@Suite struct ReadAheadTests {
    private static let film: [UInt8] = {
        var dice = Dice(seed: 5)
        return (0..<1_500_000).map { _ in UInt8.random(in: 0...255, using: &dice) }
    }()

    /// Made before anybody asks for it, which may take longer than a client waits.
    init() { _ = Self.film }

    private static func bytes(
        _ server: LyingServer, timeout: HostSpan = .seconds(30), ahead: Int64 = 150 << 20, behind: Int64 = 50 << 20, progress: FetchProgress? = nil
    ) throws -> AssetBytes {
        var network = NetworkOptions(timeout: timeout)
        (network.cacheAhead, network.cacheBehind) = (ahead, behind)
        var options = AssetReaderOptions(network: network)
        options.progress = progress
        return try AssetBytes(server.address("film.bin"), options: options)
    }

    /// The bytes from `range.lowerBound` on, as many as come before the end, an error, or the range's end.
    static func read(_ source: AssetBytes, _ range: Range<Int>) -> [UInt8] {
        var all: [UInt8] = []
        while all.count < range.count {
            var part = [UInt8](repeating: 0, count: min(range.count - all.count, 32_768))
            let count = unsafe part.withUnsafeMutableBytes { unsafe source.read(into: $0, at: Int64(range.lowerBound + all.count)) }
            guard count > 0 else { break }
            all += part.prefix(count)
        }
        return all
    }

    @Test func `an outage is not seen while there are bytes, and its time does not count`() throws {
        let isBack = Monitor(false), half = Self.film.count / 2
        let server = LyingServer { request in
            if request.number == 0 { return .file(Self.film, request).cut(after: half) }
            return isBack.withLock { $0 }
                ? .file(Self.film, request) : LyingServer.Answer(status: "503 Service Unavailable", headers: ["Content-Length: 0"])
        }
        defer { server.stop() }
        let progress = FetchProgress(), source = try Self.bytes(server, timeout: .milliseconds(200), progress: progress)
        #expect(Self.read(source, 0..<1000) == Array(Self.film[..<1000]))
        // Three failures take 250 and 500 ms between them: longer than the film may go without a byte.
        try #require(Polling.until { server.requests.count >= 4 })
        #expect(Self.read(source, 1000..<half - 1000) == Array(Self.film[1000..<half - 1000]) && source.loss == nil)
        isBack.change { $0 = true }
        try #require(Polling.until { server.requests.contains { $0.number >= 4 } })
        #expect(Polling.until { progress.ahead.bytes > Int64(half) })
        #expect(Self.read(source, 0..<Self.film.count + 1) == Self.film && source.loss == nil)
        #expect(progress.ahead.bytes == 0 && progress.bytesFetched == Int64(Self.film.count))
    }

    @Test func `what was fetched costs no further request, wherever it is read`() throws {
        let server = LyingServer { .file(Self.film, $0) }
        defer { server.stop() }
        let source = try Self.bytes(server)
        #expect(Self.read(source, 0..<Self.film.count) == Self.film)
        let asked = server.requests.count
        var dice = Dice(seed: 6)
        for _ in 0..<1000 {
            let start = Int.random(in: 0..<Self.film.count, using: &dice), range = start..<min(Self.film.count, start + 5000)
            #expect(Self.read(source, range) == Array(Self.film[range]))
        }
        #expect(server.requests.count == asked && asked == 1)
    }

    @Test(arguments: [true, false]) func `with next to no room the film is the same`(takesRanges: Bool) throws {
        let server = LyingServer { .file(Self.film, $0, ranges: takesRanges) }
        defer { server.stop() }
        let source = try Self.bytes(server, ahead: 1, behind: 0)
        #expect(Self.read(source, 0..<Self.film.count) == Self.film)
        #expect(Self.read(source, 100..<300_000) == Array(Self.film[100..<300_000]), "again, from the server")
        #expect(Self.read(source, 1_000_000..<1_100_000) == Array(Self.film[1_000_000..<1_100_000]))
    }

    @Test func `a reader that goes does not wait for a silent server`() throws {
        let server = LyingServer { .file(Self.film, $0).cut(after: 5000, .stall) }
        defer { server.stop() }
        do {
            let source = try Self.bytes(server)
            #expect(Self.read(source, 0..<5000) == Array(Self.film[..<5000]))
        }
        // The server's connection ends when the client's does: before the silence is too long for it.
        #expect(server.requests.count == 1)
    }

    @Test func `a reader that waits is cancelled`() throws {
        let server = LyingServer { .file(Self.film, $0).cut(after: 5000, .stall) }
        defer { server.stop() }
        let cancellation = AssetCancellation()
        let source = try AssetBytes(server.address("film.bin"), options: AssetReaderOptions(cancellation: cancellation))
        let thread = LoopThread(name: "canceller") {
            _ = Polling.until { server.requests.count == 1 }
            cancellation.cancel()
        }
        #expect(Self.read(source, 0..<Self.film.count).count <= 5000 && source.loss == nil)
        thread.join()
    }
}
