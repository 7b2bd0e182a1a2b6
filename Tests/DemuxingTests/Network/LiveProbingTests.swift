import Demuxing
import Glibc
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

/// How much of a live stream is read before it plays. The senders here send the first second and nothing more: a reader that wants more waits for
/// ever.
@Suite(.serialized) struct LiveProbingTests {
    private static let film = FFmpegSender.film
    /// The first half of the film's 2 s, in whole packets.
    private static var head: [UInt8] { Array(film.bytes.prefix(film.bytes.count / 2 / 188 * 188)) }

    private static let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder)

    /// The tracks are those of the whole film, and samples of both come.
    private static func expectWhole(_ reader: any AssetReading) throws {
        let whole = try AssetReader(url: film.path)
        #expect(reader.tracks.map(\.format) == whole.tracks.map(\.format))
        var seen: Set<Int> = []
        while seen.count < 2, let sample = try reader.nextSample() { seen.insert(sample.trackID) }
        #expect(seen == [0, 1])
    }

    @Test(arguments: [false, true]) func `a transport stream over TCP is known after its first second`(isSandboxed: Bool) throws {
        let server = ByteSender(Self.head)
        defer { server.stop() }
        let reader: any AssetReading =
            isSandboxed
            ? try SandboxedReader(url: server.address("tcp"), sandbox: Self.sandbox)
            : try AssetReader(url: server.address("tcp"))
        try Self.expectWhole(reader)
    }

    @Test(arguments: [false, true]) func `it is known when the samples came that a parser holds back`(isSandboxed: Bool) throws {
        let server = ByteSender(Self.head)
        defer { server.stop() }
        let address = server.address("tcp")
        let reader: any AssetReading = isSandboxed ? try SandboxedReader(url: address, sandbox: Self.sandbox) : try AssetReader(url: address)
        var offset: Int64 = -1
        for _ in 0..<20 {
            let sample = try #require(try reader.nextSample()), count = try #require(reader.bytesReceived)
            guard sample.trackID == 0 else { continue }
            let begin = try #require(sample.fileOffset)
            #expect(begin > offset && count > begin && count <= Self.head.count, "\(begin) of \(count)")
            // A frame begins with a packet of the stream.
            #expect(begin % 188 == 0 && Self.head[Int(begin)] == 0x47)
            offset = begin
        }
        #expect(offset > 0)
    }

    @Test func `a transport stream of unknown length on a web server is known after its first second`() throws {
        let head = Self.head
        let server = LyingServer { _ in LyingServer.Answer(body: head, ending: .stall) }
        defer { server.stop() }
        let cancellation = AssetCancellation()
        try Self.expectWhole(AssetReader(url: server.address("live"), options: AssetReaderOptions(cancellation: cancellation)))
        cancellation.cancel()
    }

    @Test func `a transport stream in a pipe is known after its first second`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let head = Self.head
        // F_SETPIPE_SZ of fcntl(2), for more than a pipe holds otherwise.
        let setPipeSize: Int32 = 1031
        try #require(fcntl(ends[1], setPipeSize, 1 << 20) >= head.count)
        try #require(unsafe write(ends[1], head, head.count) == head.count)
        try Self.expectWhole(AssetReader(url: "pipe:\(ends[0])"))
    }

    @Test func `who joins between two frames that can be decoded begins with the second`() throws {
        // From 0.5 s on; the second such frame comes after 1 s.
        let film = Self.film.bytes
        let server = ByteSender(Array(film[(film.count / 4 / 188 * 188)...]))
        defer { server.stop() }
        let reader = try AssetReader(url: server.address("tcp"))
        var first: [Int: SampleBuffer] = [:]
        while first.count < 2, let sample = try reader.nextSample() { first[sample.trackID] = first[sample.trackID] ?? sample }
        let frame = try #require(first[0]), sound = try #require(first[1])
        #expect(frame.flags.contains(.sync) && frame.presentationTime == .zero, "\(frame.presentationTime)")
        #expect((-0.1...0.1).contains(sound.presentationTime.seconds), "\(sound.presentationTime)")
    }

    @Test func `what is announced and has not come is waited for`() throws {
        // The film without its sound: its packets have the number 0x101, which ffmpeg gives to the second track.
        let film = Self.film.bytes
        var silent: [UInt8] = []
        for start in stride(from: 0, to: film.count, by: 188) where !(film[start + 1] & 0x1f == 1 && film[start + 2] == 1) {
            silent += film[start..<start + 188]
        }
        #expect(silent.count < film.count)
        let server = ByteSender(silent)
        let cancellation = AssetCancellation()
        let isOpen = Monitor<Bool?>(nil)
        let thread = LoopThread(name: "opening") {
            let reader = try? AssetReader(url: server.address("tcp"), options: AssetReaderOptions(cancellation: cancellation))
            isOpen.change { $0 = reader != nil }
        }
        server.waitForClient()
        #expect(Polling.holds(for: .milliseconds(500)) { isOpen.withLock { $0 == nil } })
        cancellation.cancel()
        thread.join()
        #expect(isOpen.withLock { $0 } == false)
        server.stop()
    }
}
