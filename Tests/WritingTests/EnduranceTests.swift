import Decoding
import Demuxing
import Encoding
import Glibc
import Media
import Reading
import SampleQueue
import SurfacePool
import TestSupport
import Testing
import Writing

/// Sessions of each kind, one after the other in one process: none leaves a descriptor or memory behind.
@Suite(.serialized) struct EnduranceTests {
    /// What is made again and again.
    enum Kind: String, CaseIterable {
        case reader, generator, compression, writer, export
    }

    private struct NoFrame: Error {}

    /// One life of a session, from its beginning to its end. Every third one is broken off.
    static func live(_ kind: Kind, _ number: Int, in scratch: Scratch) throws {
        let film = TestAssets.path("plain.mp4"), isBrokenOff = number % 3 == 2
        let path = scratch.path("film-\(number).\(["mp4", "mkv", "ts"][number % 3])")
        defer { unsafe unlink(path) }
        switch kind {
        case .reader:
            let output = try VideoTrackOutput(url: film)
            try output.reset(forReadingTimeRanges: [
                MediaTimeRange(start: MediaTime(value: Int64(number % 20), timescale: 30), duration: MediaTime(value: 1, timescale: 10))
            ])
            if isBrokenOff { return output.cancel() }
            guard try output.nextFrame() != nil else { throw NoFrame() }
            while try output.nextFrame() != nil {}
            let sound = try AudioTrackOutput(url: TestAssets.demo)
            guard try sound.nextBuffer() != nil else { throw NoFrame() }
        case .generator:
            let generator = try FrameGenerator(url: film)
            let frame = try generator.frame(at: MediaTime(value: Int64(number % 20), timescale: 30))
            if isBrokenOff { generator.cancel() }
            guard frame.visible.width > 0 else { throw NoFrame() }
        case .compression:
            try compress(["libx264", "mjpeg", "libvpx-vp9"][number % 3], isBrokenOff: number % 2 == 1)
        case .writer:
            let reader = try AssetReader(url: film), writer = try AssetWriter(path: path)
            let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
            try writer.start()
            while let sample = try reader.nextSample() { try inputs[sample.trackID].append(sample) }
            if isBrokenOff { writer.cancel() } else { try writer.finish() }
        case .export:
            var settings = ExportSettings()
            settings.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 10))
            settings.video = .encode(try ExportSettings.Codec(videoText: "libx264:preset=ultrafast"))
            let session = try ExportSession(from: TestAssets.demo, to: path, settings: settings)
            if isBrokenOff {
                session.cancel()
                try? session.run()
            } else {
                try session.run()
            }
        }
    }

    private static func compress(_ encoder: String, isBrokenOff: Bool) throws {
        let codec: VideoCodec = encoder == "libx264" ? .h264 : encoder == "mjpeg" ? VideoCodec(name: "mjpeg") : .vp9
        guard Encoders.names(for: codec).contains(encoder) else { return }
        let size = PixelSize(width: 96, height: 64)
        let more = encoder == "libx264" ? ["preset": "ultrafast"] : encoder == "mjpeg" ? [:] : ["cpu-used": "8"]
        let session = try CompressionSession(
            format: VideoFormat(codec: codec, codedSize: size, frameRate: Ratio(25, 1)),
            options: EncoderOptions(specification: EncoderSpecification(name: encoder), encoderOptions: more))
        let pool = session.makeSourcePool()
        var answers = 0
        for number in 0..<3 {
            guard let writer = try pool.acquire() else { throw NoFrame() }
            unsafe writer.withUnsafeMutableBytes { unsafe _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(60 + number)) }
            let frame = VideoFrame(
                use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: size.width, height: size.height),
                presentationTime: MediaTime(value: Int64(number), timescale: 25), duration: MediaTime(value: 1, timescale: 25),
                sequence: UInt64(number))
            try session.encode(frame) { _ in answers += 1 }
        }
        if isBrokenOff { return session.invalidate() }
        try session.completeFrames { _ in answers += 1 }
        guard answers == 3 else { throw NoFrame() }
    }

    private static var residentKiB: Int {
        let line = (TextFile.contents(of: "/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    @Test(arguments: Kind.allCases)
    func `sessions, a thousand of each kind with --full, leave descriptors and memory as they were`(kind: Kind) async {
        ExitTestWords.give(kind.rawValue)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let name = ExitTestWords.given[0], kind = try #require(EnduranceTests.Kind(rawValue: name)), scratch = Scratch()
            let first = TestExtent.rounds(30, full: 200, sanitized: 9), count = TestExtent.rounds(60, full: 800, sanitized: 15)
            for number in 0..<first { try EnduranceTests.live(kind, number, in: scratch) }
            let before = (descriptors: OpenDescriptors.count, memory: EnduranceTests.residentKiB)
            for number in 0..<count { try EnduranceTests.live(kind, number, in: scratch) }
            #expect(OpenDescriptors.settle(at: before.descriptors), "\(before.descriptors) and \(OpenDescriptors.targets)")
            #expect(scratch.names == [])
            let memory = EnduranceTests.residentKiB
            print("\(name): \(first + count) sessions, \(before.descriptors) descriptors, \(before.memory) and then \(memory) KiB")
            // Sanitizers keep what was freed; that is no growth of ours.
            #expect(TestExtent.isSanitized || memory <= before.memory + 8 * 1024, "\(before.memory) and then \(memory) KiB")
        }
        if TestExtent.isFull, let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
}
