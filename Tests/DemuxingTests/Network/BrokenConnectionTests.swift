import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// A film over connections that break: every sample comes, and each is what the file holds.
@Suite(.serialized) struct BrokenConnectionTests {
    private static let film = (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo)))) ?? []

    private static func reader(
        _ address: String, sandbox: String = "off", timeout: HostSpan = .seconds(60), stall: HostSpan = .seconds(10)
    ) throws -> any AssetReading {
        var options = AssetReaderOptions()
        options.network = NetworkOptions(timeout: timeout, stallTimeout: stall)
        if sandbox == "off" { return try AssetReader(url: address, options: options) }
        return try SandboxedReader(url: address, options: options, sandbox: SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder))
    }

    private struct Row: Equatable {
        var track: Int
        var time: MediaTime
        var bytes: [UInt8]
    }

    private static func rows(_ reader: any AssetReading) throws -> [Row] {
        var rows: [Row] = []
        while let sample = try reader.nextSample() {
            guard case .compressed(let block, _) = sample.content else { continue }
            rows.append(Row(track: sample.trackID, time: sample.presentationTime, bytes: unsafe block.withUnsafeBytes { unsafe Array($0) }))
        }
        return rows
    }

    private static func expected(_ path: String = TestAssets.demo) throws -> [Row] { try rows(try AssetReader(url: path)) }

    @Test(arguments: [LyingServer.Ending.close, .reset], ["off", "full"])
    func `a film that is cut at random bytes arrives whole`(_ ending: LyingServer.Ending, _ sandbox: String) throws {
        let expected = try Self.expected()
        let dice = Monitor(Dice(seed: 13))
        let cuts = TestExtent.rounds(5, full: 100)
        let server = LyingServer { request in
            .file(Self.film, request).cut(after: dice.withLock { Int.random(in: 1...Self.film.count / 2, using: &$0) }, ending)
        }
        defer { server.stop() }
        while server.requests.count < cuts {
            #expect(try Self.rows(Self.reader(server.address("film.mp4"), sandbox: sandbox)) == expected)
        }
    }

    @Test(arguments: ["off", "full"]) func `a connection that goes silent is replaced`(sandbox: String) throws {
        let expected = try Self.expected()
        let server = LyingServer { request in
            let whole = LyingServer.Answer.file(Self.film, request)
            return request.number < 2 ? whole.cut(after: Self.film.count / 3, .stall) : whole
        }
        defer { server.stop() }
        #expect(try Self.rows(Self.reader(server.address("film.mp4"), sandbox: sandbox, stall: .milliseconds(300))) == expected)
    }

    @Test func `a server that fails now and then is asked again`() throws {
        let expected = try Self.expected()
        let server = LyingServer { request in
            request.number % 2 == 0
                ? LyingServer.Answer(status: "503 Service Unavailable", headers: ["Content-Length: 0"])
                : .file(Self.film, request).cut(after: Self.film.count / 3)
        }
        defer { server.stop() }
        #expect(try Self.rows(Self.reader(server.address("film.mp4"))) == expected)
    }

    @Test(arguments: ["vp9.webm", "av1.mkv"]) func `a server without byte ranges is asked for everything again`(name: String) throws {
        let path = TestAssets.path(name), film = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let expected = try Self.expected(path)
        let server = LyingServer { request in
            let whole = LyingServer.Answer.file(film, request, ranges: false)
            return request.number < 2 ? whole.cut(after: film.count / 3 * (1 + request.number)) : whole
        }
        defer { server.stop() }
        let reader = try Self.reader(server.address(name))
        #expect(!reader.isSeekable)
        #expect(try Self.rows(reader) == expected)
        #expect(server.requests.count >= 3)
    }

    @Test(arguments: ["off", "full"]) func `where the connection stays away the film ends with what is missing`(sandbox: String) throws {
        let expected = try Self.expected()
        let server = LyingServer { request in
            request.rangeStart == 0 ? .file(Self.film, request).cut(after: Self.film.count / 2) : LyingServer.Answer(status: "500 Oh", ending: .reset)
        }
        defer { server.stop() }
        let address = server.address("film.mp4"), reader = try Self.reader(address, sandbox: sandbox, timeout: .milliseconds(1500))
        var count = 0
        let error = #expect(throws: AssetError.self) { while try reader.nextSample() != nil { count += 1 } }
        #expect(error?.code == .cutShort)
        let text = error?.description ?? ""
        #expect(text.hasPrefix("\(address): ends at 0:0") && text.hasSuffix(" of 0:10: the connection was lost."), "\(text)")
        #expect(count > expected.count / 4 && count < expected.count * 3 / 4)
        #expect(try reader.nextSample() == nil)
    }

    @Test(arguments: [0, 1]) func `a film that was replaced meanwhile is not joined to the old one`(longer: Int) throws {
        let other = Self.film.map { $0 ^ 0x55 } + [UInt8](repeating: 0, count: longer)
        let server = LyingServer { request in
            request.number == 0 ? .file(Self.film, request).cut(after: Self.film.count / 2) : .file(other, request)
        }
        defer { server.stop() }
        let reader = try Self.reader(server.address("film.mp4"))
        let error = #expect(throws: AssetError.self) { while try reader.nextSample() != nil {} }
        #expect(
            error?.code == .cutShort && error?.description.hasSuffix(": the file on the server has changed.") == true, "\(String(describing: error))")
    }

    @Test func `waiting for a connection can be cancelled`() throws {
        let server = LyingServer { request in
            request.number == 0 ? .file(Self.film, request).cut(after: Self.film.count / 2) : LyingServer.Answer(status: "500 Oh", ending: .reset)
        }
        let reader = try Self.reader(server.address("film.mp4"), timeout: .seconds(3600))
        let canceller = LoopThread(name: "canceller") {
            _ = Polling.until { server.requests.count > 3 }
            reader.cancel()
        }
        let error = #expect(throws: AssetError.self) { while try reader.nextSample() != nil {} }
        #expect(error?.code == .cancelled)
        canceller.join()
        server.stop()
    }
}
