import Demuxing
import Foundation
import Glibc
import Media
import Reading
import Sandbox
import TestSupport
import Testing

/// Whoever reads a film can stop doing so while the process that decodes does nothing at all, however long it is still given.
@Suite struct HangingDecoderTests {
    /// A decoder program that runs the true one as its child: when that is stopped, the program that was started only seems to work.
    private final class HiddenDecoder {
        let path = ProcessFolder.path("hidden-decoder-\(UUID().uuidString.prefix(8))")
        private var numbers: String { path + ".numbers" }

        init() throws {
            let script = "#!/bin/sh\n'\(BuiltPrograms.decoder)' & echo $! >>'\(numbers)'\nwait\n"
            try script.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        }

        /// Of whom nobody knows that it is stopped. It dies with the program.
        func stop() throws {
            let running = try String(contentsOfFile: numbers, encoding: .utf8).split(separator: "\n").compactMap { Int32($0) }
            try #require(!running.isEmpty)
            for process in running { kill(process, SIGSTOP) }
        }

        /// With a deadline that no test lives to see.
        var sandbox: SandboxOptions { SandboxOptions(policy: .decoder, decoderPath: path, hangDeadline: .seconds(600)) }
    }

    /// What ends a reader that reads until an error is thrown, and is cancelled while it waits.
    private static func end(_ decoder: HiddenDecoder, cancel: () -> Void, read: @escaping @Sendable () throws -> Void) throws -> (any Error)? {
        // The process is at work.
        try read()
        try decoder.stop()
        let end = Monitor<(any Error)?>(nil)
        let reader = LoopThread(name: "reader") {
            do { while true { try read() } } catch { end.change { $0 = error } }
        }
        // By then it waits for the process; where a busy machine needs longer, it is cancelled before.
        usleep(300_000)
        cancel()
        reader.join()
        return end.withLock { $0 }
    }

    @Test(.timeLimit(.minutes(1))) func `frames`() throws {
        let decoder = try HiddenDecoder(), output = try VideoTrackOutput(url: TestAssets.demo, options: ReadingOptions(sandbox: decoder.sandbox))
        let error = try Self.end(decoder, cancel: output.cancel) { try #require(try output.nextFrame() != nil) }
        #expect((error as? ReadingError)?.code == .cancelled)
    }

    @Test(.timeLimit(.minutes(1))) func `frames of any time`() throws {
        let decoder = try HiddenDecoder(), options = FrameGeneratorOptions(reading: ReadingOptions(sandbox: decoder.sandbox))
        let generator = try FrameGenerator(url: TestAssets.demo, options: options), place = Monitor<Int64>(0)
        let error = try Self.end(decoder, cancel: generator.cancel) {
            let second = place.withLock { place in
                place = (place + 3) % 10
                return place
            }
            _ = try generator.frame(at: MediaTime(value: second, timescale: 1))
        }
        #expect((error as? ReadingError)?.code == .cancelled)
    }

    @Test(.timeLimit(.minutes(1))) func `sound`() throws {
        let decoder = try HiddenDecoder(), output = try AudioTrackOutput(url: TestAssets.demo, options: ReadingOptions(sandbox: decoder.sandbox))
        let error = try Self.end(decoder, cancel: output.cancel) { try #require(try output.nextBuffer() != nil) }
        #expect((error as? ReadingError)?.code == .cancelled)
    }
}
