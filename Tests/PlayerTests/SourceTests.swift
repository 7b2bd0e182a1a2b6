import Decoding
import Demuxing
import DisplaySink
import FilmReference
import Foundation
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// Films whose bytes a Swift program brings, in this process and in one without rights.
@Suite struct SourceTests {
    enum Kind: Sendable, CaseIterable { case memory, lentMemory, file, pipe, ownSource, ownPipe }

    /// Reads a few bytes at a time.
    private final class Slow: ByteSource, @unchecked Sendable {
        let bytes: [UInt8]
        let isSeekable: Bool
        private var next: Int64 = 0
        init(_ bytes: [UInt8], isSeekable: Bool) { (self.bytes, self.isSeekable) = (bytes, isSeekable) }
        var byteCount: Int64? { isSeekable ? Int64(bytes.count) : nil }
        func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            guard isSeekable || offset == next else { throw AssetError(.notSeekable, "not in order") }
            let end = min(Int(offset) + min(target.count, 777), bytes.count)
            guard end > offset else { return 0 }
            unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<end])) }
            next = Int64(end)
            return end - Int(offset)
        }
    }

    @Test(arguments: ["mp4", "mkv", "ts"], [SandboxPolicy.off, .full])
    func `every frame is that of the file, whatever the bytes come from`(_ ending: String, _ policy: SandboxPolicy) async throws {
        let path = try FilmReference.copy(of: TestAssets.path("plain.mp4"), as: ending), expected = try FilmReference.sums(path)
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let lent = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { unsafe lent.deallocate() }
        unsafe lent.copyBytes(from: bytes)
        for kind in Kind.allCases {
            var writer: LoopThread?
            let source: any ByteSource
            switch kind {
            case .memory: source = MemoryBytes(bytes)
            case .lentMemory: source = unsafe MemoryBytes(lent: UnsafeRawBufferPointer(lent))
            case .ownSource: source = Slow(bytes, isSeekable: true)
            case .ownPipe: source = Slow(bytes, isSeekable: false)
            case .file:
                let file = OwnedFD(adopting: unsafe open(path, O_RDONLY | O_CLOEXEC))
                source = try DescriptorBytes(duplicating: file.rawValue)
            case .pipe:
                var ends: [Int32] = [0, 0]
                try #require(unsafe Glibc.pipe(&ends) == 0)
                let read = OwnedFD(adopting: ends[0]), write = ends[1]
                source = try DescriptorBytes(duplicating: read.rawValue)
                writer = LoopThread(name: "writer") {
                    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(write, $0.baseAddress, $0.count) }
                    close(write)
                }
            }
            #expect(try await Self.sums(source, "film.\(ending)", policy) == expected, "\(kind)")
            writer?.join()
        }
    }

    private static func sums(_ source: any ByteSource, _ name: String, _ policy: SandboxPolicy) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("source-\(UUID().uuidString).framemd5").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.decoder.hardware = .disable
        configuration.sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder)
        let player = Player(sink: try FrameMD5Sink(path: file), configuration: configuration), events = player.events
        try await player.open(source, name: name)
        #expect(player.title == name)
        for await event in events {
            if case .ended = event { break }
            if case .failed(let error) = event { throw error }
            if case .notice(let notice) = event { Issue.record("\(notice)") }
        }
        player.close()
        return FrameMD5File(path: file)?.lines.map(\.hash) ?? []
    }

    /// Blocks until it is cancelled.
    private final class Stuck: ByteSource {
        let byteCount: Int64? = nil
        let isSeekable = false
        let state = Monitor((isBlocked: false, isCancelled: false))
        func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            state.change { $0.isBlocked = true }
            let _: Void? = state.wait { $0.isCancelled ? () : nil }
            return 0
        }
        func cancel() { state.change { $0.isCancelled = true } }
    }

    @Test(arguments: [SandboxPolicy.off, .full], [true, false])
    func `a source that blocks ends when the task is cancelled, and when the player is closed`(_ policy: SandboxPolicy, _ cancels: Bool) async throws
    {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder)
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration), source = Stuck()
        let opening = Task { () -> PlayerError.Code? in
            do throws(PlayerError) { try await player.open(source) } catch { return error.code }
            return nil
        }
        // Not by `wait`, which would block the thread that the task needs.
        while !source.state.withLock({ $0.isBlocked }) { try await Task.sleep(nanoseconds: 1_000_000) }
        if cancels { opening.cancel() } else { player.close() }
        #expect(await opening.value == .cancelled)
        #expect(source.state.withLock { $0.isCancelled })
        player.close()
    }

    @Test(arguments: [SandboxPolicy.off, .full]) func `what a source throws is part of the sentence`(_ policy: SandboxPolicy) async throws {
        struct Torn: Error, CustomStringConvertible { var description: String { "the tape is torn" } }
        final class Tape: ByteSource {
            let byteCount: Int64? = 1_000_000
            let isSeekable = true
            func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int { throw Torn() }
        }
        var configuration = PlayerConfiguration()
        configuration.sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder)
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
        let error = await #expect(throws: PlayerError.self) { try await player.open(Tape(), name: "tape.mkv") }
        #expect(error?.description.hasPrefix("tape.mkv: ") == true && error?.code != .network, "\(error?.description ?? "")")
        if policy == .off { #expect(error?.description.contains("the tape is torn") == true, "\(error?.description ?? "")") }
        player.close()
    }
}
