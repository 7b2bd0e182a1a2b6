import Bitstream
import Decoding
import Demuxing
import Encoding
import Glibc
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

@Suite("elementary stream writer")
struct ElementaryStreamWriterTests {
    /// The NAL units of samples that are no parameter sets, sample by sample.
    private static func units(_ samples: [SampleBuffer]) -> [[[UInt8]]] {
        samples.compactMap { sample in
            guard case .compressed(let block, .video(let format)) = sample.content, let codec = NALCodec(format.codec) else { return nil }
            let packaging = NALPackaging(configuration: format.configuration, codec: codec)
            let units = unsafe block.withUnsafeBytes { unsafe packaging.units(in: $0) }
            return units.filter { ParameterSets(codec: codec, units: [$0]).units.isEmpty }
        }
    }

    private static func frames(_ samples: [SampleBuffer], _ format: VideoFormat) throws -> [FrameBytes] {
        let session = try DecompressionSession(format: format, options: DecoderOptions(threads: 1, holdCount: 1))
        var frames: [FrameBytes] = []
        func receive(_ output: consuming DecodeOutput) { if case .frame(let frame) = consume output { frames.append(FrameBytes(frame)) } }
        for sample in samples { try session.decode(sample) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        return frames
    }

    /// Sends samples through a pipe and reads the other end in pieces of any size.
    private static func sent(_ samples: [SampleBuffer], codec: NALCodec, seed: UInt64) throws -> [SampleBuffer] {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        let failure = Monitor<EncodingError?>(nil)
        let sender = LoopThread(name: "sender") {
            var writer = ElementaryStreamWriter()
            do throws(EncodingError) {
                for sample in samples { try writer.write(sample, to: input) }
            } catch {
                failure.withLock { $0 = error }
            }
            close(input)
        }
        let reader = ElementaryStreamReader(codec: codec)
        var dice = Dice(seed: seed), received: [SampleBuffer] = []
        while true {
            var piece = [UInt8](repeating: 0, count: Int(dice.next() % 4000) + 1)
            let count = unsafe read(output, &piece, piece.count)
            if count <= 0 { break }
            reader.append(Array(piece.prefix(count)))
            while let sample = reader.nextSample() { received.append(sample) }
        }
        sender.join()
        close(output)
        reader.finish()
        while let sample = reader.nextSample() { received.append(sample) }
        #expect(failure.withLock { $0 } == nil)
        return received
    }

    @Test("what is encoded, sent through a pipe and read again are the same samples", arguments: ["libx264", "libx265"])
    func encoded(name: String) throws {
        guard let encoder = EncoderCase.installed.first(where: { $0.name == name }), let codec = NALCodec(encoder.codec) else { return }
        let film = try EncodedFilm(to: encoder.codec, encoder.options(), count: 20, forced: [7, 13])
        let received = try Self.sent(film.samples, codec: codec, seed: 3)
        #expect(Self.units(received) == Self.units(film.samples))
        #expect(received.map { $0.flags.contains(.sync) } == film.samples.map { $0.flags.contains(.sync) })
        guard case .compressed(_, .video(let format)) = try #require(received.first).content else { return }
        #expect(format.codedSize == film.format.codedSize && ParameterSets(format) == ParameterSets(film.format))
        #expect(try Self.frames(received, format) == film.decoded().frames)
    }

    @Test("a receiver can begin at every sync sample")
    func entry() throws {
        let encoder = try #require(EncoderCase.installed.first { $0.name == "libx264" })
        let film = try EncodedFilm(to: encoder.codec, encoder.options(), count: 20, forced: [8])
        let start = try #require(film.samples.lastIndex { $0.flags.contains(.sync) })
        #expect(start > 0)
        // The writer has written the sets before; it writes them again.
        var writer = ElementaryStreamWriter(), bytes: [UInt8] = []
        for (number, sample) in film.samples.enumerated() {
            try unsafe writer.forEachPiece(of: sample) { unsafe bytes += number >= start ? Array($0) : [] }
        }
        let reader = ElementaryStreamReader(codec: .h264)
        reader.append(bytes)
        reader.finish()
        var received: [SampleBuffer] = []
        while let sample = reader.nextSample() { received.append(sample) }
        guard case .compressed(_, .video(let format)) = try #require(received.first).content else { return }
        #expect(try Self.frames(received, format).count == film.samples.count - start)
    }

    @Test("samples with lengths, as files hold them, are sent with start codes", arguments: ["plain.mp4", "hevc-10bit.mp4", "crop.mp4"])
    func lengths(name: String) throws {
        let reader = try AssetReader(url: TestAssets.path(name))
        let track = try #require(reader.tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format, let codec = NALCodec(format.codec) else { return }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        let received = try Self.sent(samples, codec: codec, seed: 9)
        #expect(Self.units(received) == Self.units(samples))
        guard case .compressed(_, .video(let stated)) = try #require(received.first).content else { return }
        #expect(try Self.frames(received, stated) == Self.frames(samples, format))
    }

    @Test("what is no such sample, and an end that takes nothing, are errors")
    func errors() throws {
        var writer = ElementaryStreamWriter()
        do throws(EncodingError) {
            try writer.write(SampleBuffer(marker: .drain), to: 1)
            Issue.record("a marker was written")
        } catch {
            #expect(error.code == .unsupportedFormat)
        }
        let film = try EncodedFilm(to: .h264, .fast(), count: 1)
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { close(full) }
        do throws(EncodingError) {
            try writer.write(film.samples[0], to: full)
            Issue.record("/dev/full took bytes")
        } catch {
            #expect(error.code == .output && error.status == ENOSPC)
        }
    }
}
