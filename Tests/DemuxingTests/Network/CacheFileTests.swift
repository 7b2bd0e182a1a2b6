import Foundation
import Media
import TestSupport
import Testing

@testable import Demuxing

/// A film from a server of which memory holds little, and a file without a name the rest.
@Suite(.serialized) struct CacheFileTests {
    private static let film: [UInt8] = {
        var dice = Dice(seed: 8)
        return (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &dice) }
    }()

    /// The film is there before anybody asks for it: making it may take longer than a client waits.
    private static func server(ranges: Bool = true) -> LyingServer {
        let film = film
        return LyingServer { .file(film, $0, ranges: ranges) }
    }

    /// A folder that is empty when the test ends, however it ends: the file has no name.
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/cache-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try body(folder)
        #expect(unsafe rmdir(folder) == 0, "the file has no name")
    }

    /// 64 KiB ahead, nothing behind.
    private static func bytes(_ server: LyingServer, in folder: String?, _ progress: FetchProgress) throws -> AssetBytes {
        var network = NetworkOptions()
        (network.cacheAhead, network.cacheBehind, network.cacheFolder) = (1, 0, folder)
        var options = AssetReaderOptions(network: network)
        options.progress = progress
        return try AssetBytes(server.address("film.bin"), options: options)
    }

    private static func sentences(_ progress: FetchProgress) -> Monitor<[String]> {
        let told = Monitor<[String]>([])
        progress.follow { sentence in told.change { $0.append(sentence) } }
        return told
    }

    @Test(arguments: [true, false]) func `all of it is fetched once, and seeks ask for nothing`(takesRanges: Bool) throws {
        let server = Self.server(ranges: takesRanges)
        defer { server.stop() }
        let before = OpenDescriptors.count
        try Self.withFolder { folder in
            let progress = FetchProgress(), told = Self.sentences(progress)
            let source = try Self.bytes(server, in: folder, progress)
            #expect(ReadAheadTests.read(source, 0..<1000) == Array(Self.film[..<1000]))
            #expect(Polling.until { progress.bytesFetched == Int64(Self.film.count) }, "\(progress.bytesFetched)")
            var dice = Dice(seed: 9)
            for _ in 0..<300 {
                let start = Int.random(in: 0..<Self.film.count, using: &dice), range = start..<min(Self.film.count, start + 70_000)
                #expect(ReadAheadTests.read(source, range) == Array(Self.film[range]))
            }
            #expect(progress.bytesFetched == Int64(Self.film.count) && server.requests.count == 1 && told.withLock { $0 } == [])
            #expect(ReadAheadTests.read(source, 100..<Self.film.count + 1) == Array(Self.film[100...]))
        }
        #expect(Polling.until { OpenDescriptors.count <= before }, "the file is closed")
    }

    @Test func `seeks before all of it is here fetch what is missing, and that once`() throws {
        let server = Self.server()
        defer { server.stop() }
        try Self.withFolder { folder in
            let progress = FetchProgress(), source = try Self.bytes(server, in: folder, progress)
            var dice = Dice(seed: 10)
            for _ in 0..<60 {
                let start = Int.random(in: 0..<Self.film.count, using: &dice), range = start..<min(Self.film.count, start + 5000)
                #expect(ReadAheadTests.read(source, range) == Array(Self.film[range]))
            }
            #expect(ReadAheadTests.read(source, 0..<Self.film.count) == Self.film)
            let asked = server.requests.count, fetched = progress.bytesFetched
            #expect(ReadAheadTests.read(source, 0..<Self.film.count) == Self.film)
            #expect(server.requests.count == asked && progress.bytesFetched == fetched)
        }
    }

    @Test func `a film that fits in memory, or has no known length, needs no file`() throws {
        let film = Self.film
        let small = LyingServer { .file(Array(film.prefix(60_000)), $0) }
        let endless = LyingServer { _ in LyingServer.Answer(body: film) }
        defer {
            small.stop()
            endless.stop()
        }
        for (server, count) in [(small, 60_000), (endless, Self.film.count)] {
            let progress = FetchProgress(), told = Self.sentences(progress)
            // A folder that is not there would be complained about.
            let source = try Self.bytes(server, in: "/nowhere", progress)
            #expect(ReadAheadTests.read(source, 0..<count) == Array(Self.film.prefix(count)) && told.withLock { $0 } == [])
        }
    }

    @Test func `where no file can be made, a sentence says so and memory does`() throws {
        let server = Self.server()
        defer { server.stop() }
        let progress = FetchProgress(), told = Self.sentences(progress)
        let source = try Self.bytes(server, in: "/nowhere", progress)
        #expect(ReadAheadTests.read(source, 0..<Self.film.count) == Self.film)
        let words = "cannot create a file in /nowhere: No such file or directory. It goes on from memory and the network."
        #expect(told.withLock { $0 } == ["\(server.address("film.bin")): \(words)"])
    }

    @Test func `a full disk is one sentence, and what is there stays`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let server = CacheFileTests.server()
            defer { server.stop() }
            let progress = FetchProgress(), told = CacheFileTests.sentences(progress)
            let source = try CacheFileTests.bytes(server, in: "/tmp", progress)
            #expect(ReadAheadTests.read(source, 0..<10) == Array(CacheFileTests.film[..<10]))
            try #require(Polling.until { told.withLock { $0.count } == 1 })
            #expect(told.withLock { $0[0] }.hasSuffix(": cannot keep more of it on disk: File too large. It goes on from memory and the network."))
            let fetched = progress.bytesFetched
            #expect(ReadAheadTests.read(source, 0..<900_000) == Array(CacheFileTests.film[..<900_000]))
            #expect(server.requests.count == 1 && fetched < 1_200_000)
            #expect(ReadAheadTests.read(source, 0..<CacheFileTests.film.count) == CacheFileTests.film && told.withLock { $0.count } == 1)
        }
    }

    @Test func `room is left for other programs`() {
        let mebibyte = UInt64(1 << 20)
        #expect(CacheFile.reserve(of: 100 * mebibyte) == 5 * mebibyte && CacheFile.reserve(of: 10_000 * mebibyte) == 500 * mebibyte)
        #expect(CacheFile.reserve(of: 1_000_000 * mebibyte) == 1024 * mebibyte)
    }
}
