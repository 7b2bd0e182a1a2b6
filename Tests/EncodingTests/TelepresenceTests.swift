import Bitstream
import Decoding
import Encoding
import Foundation
import Glibc
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Two ends of a call, each a process: one encodes and sends an elementary stream, the other receives, decodes and shows.
///
/// No clock is asked. A frame may be shown at most three periods, plus the delay that the encoder declares, after it was taken: so the sender takes a
/// frame only when the one so many before it has been shown at the other end. A path that holds back more stands still.
@Suite(.serialized) struct TelepresenceTests {
    private static let count = 60
    private static let size = PixelSize(width: 96, height: 64)
    /// Frames on their way beside those that the encoder declares to hold.
    private static let lead = 3

    private static let encoders = EncoderCase.installed.filter { ["libx264", "libx265"].contains($0.name) }

    @Test(arguments: encoders, [0, 2])
    func `a frame is shown three periods after it was taken, and what the encoder declares`(encoder: EncoderCase, delay: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("call-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["stream", "shown"] { try #require(unsafe mkfifo("\(folder)/\(name)", 0o600) == 0) }
        let failure = Monitor("")
        let sender = LoopThread(name: "sender") {
            do { try Self.send(encoder, delay: delay, folder) } catch { failure.withLock { $0 = "\(error)" } }
        }
        ExitTestWords.give(encoder.codec == .hevc ? "hevc" : "h264", folder)
        await #expect(processExitsWith: .success) {
            let words = ExitTestWords.given
            try TelepresenceTests.receive(words[0] == "hevc" ? .hevc : .h264, words[1])
        }
        sender.join()
        #expect(failure.withLock { $0 } == "")
    }

    private struct Broken: Error {
        var what: String
    }

    /// The brightness of a frame, by which the other end knows it.
    private static func level(_ number: Int) -> UInt8 { UInt8(40 + number * 3 % 180) }

    private static func send(_ encoder: EncoderCase, delay: Int, _ folder: String) throws {
        signal(SIGPIPE, SIG_IGN)
        let stream = unsafe open("\(folder)/stream", O_WRONLY | O_CLOEXEC), shown = unsafe open("\(folder)/shown", O_RDONLY | O_CLOEXEC)
        defer {
            close(stream)
            close(shown)
        }
        let options = EncoderOptions.fast(encoder.name) {
            $0.maximumDelay = delay
            if delay == 0 { $0.isRealTime = true }
        }
        let session = try CompressionSession(format: VideoFormat(codec: encoder.codec, codedSize: size, frameRate: Ratio(30, 1)), options: options)
        let pool = session.makeSourcePool()
        var output = ElementaryStreamWriter(), sent = 0, seen = 0
        func put(_ answer: EncodeOutput) {
            guard case .sample(let sample, _) = answer else { return }
            do { try output.write(sample, to: stream) } catch { return }
            sent += 1
        }
        for number in 0..<count {
            while seen <= number - lead - delay {
                guard let level = next(shown) else { throw Broken(what: "nothing was shown after frame \(seen), when \(number) were taken") }
                guard abs(Int(level) - Int(Self.level(seen))) <= 4 else { throw Broken(what: "frame \(seen) was shown as another one") }
                seen += 1
            }
            guard let writer = try pool.acquire() else { throw Broken(what: "no surface") }
            unsafe writer.withUnsafeMutableBytes { unsafe _ = $0.initializeMemory(as: UInt8.self, repeating: level(number)) }
            let frame = VideoFrame(
                use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: size.width, height: size.height),
                presentationTime: MediaTime(value: Int64(number), timescale: 30), duration: MediaTime(value: 1, timescale: 30),
                sequence: UInt64(number))
            try session.encode(frame, output: put)
        }
        try session.completeFrames(output: put)
        guard sent == count else { throw Broken(what: "\(sent) of \(count) frames were sent") }
    }

    /// The brightness of the frame shown next; nil when the other end is gone, or shows nothing for a minute.
    private static func next(_ descriptor: Int32) -> UInt8? {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), byte: UInt8 = 0
        guard unsafe poll(&look, 1, 60_000) == 1, unsafe read(descriptor, &byte, 1) == 1 else { return nil }
        return byte
    }

    static func receive(_ codec: NALCodec, _ folder: String) throws {
        signal(SIGPIPE, SIG_IGN)
        let stream = unsafe open("\(folder)/stream", O_RDONLY | O_CLOEXEC), shown = unsafe open("\(folder)/shown", O_WRONLY | O_CLOEXEC)
        let reader = ElementaryStreamReader(codec: codec)
        var session: DecompressionSession?
        func show(_ output: consuming DecodeOutput) {
            guard case .frame(let frame) = consume output else { return }
            let bytes = FrameBytes(frame)
            var level = bytes.bytes[bytes.size.width * bytes.size.height / 2]
            _ = unsafe write(shown, &level, 1)
        }
        func decode() throws {
            while let sample = reader.nextSample() {
                if session == nil, case .compressed(_, .video(let format)) = sample.content {
                    session = try DecompressionSession(format: format, options: DecoderOptions(threads: 1, holdCount: 1))
                }
                try session?.decode(sample) { show($0) }
            }
        }
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(stream, &piece, piece.count)
            if count <= 0 { break }
            reader.append(Array(piece.prefix(count)))
            try decode()
        }
        reader.finish()
        try decode()
        session?.finishDelayedFrames { show($0) }
        // The last frames stay in the pipe for the other end.
        close(shown)
    }
}
