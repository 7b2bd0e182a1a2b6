import Glibc
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

@Suite struct AssetReaderTests {
    private func samples(_ reader: AssetReader) throws -> [SampleBuffer] {
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }

    private func video(_ name: String) throws -> VideoFormat {
        let track = try AssetReader(url: TestAssets.path(name)).tracks.first { $0.kind == .video }
        guard case .video(let format) = track?.format else { throw AssetError(.noPlayableTrack, name) }
        return format
    }

    @Test func `tracks say what the container knows`() throws {
        let reader = try AssetReader(url: TestAssets.demo)
        #expect(reader.tracks.map(\.kind) == [.video, .audio])
        #expect(reader.isSeekable && reader.containerName.contains("mp4"))
        #expect(abs(reader.duration.seconds - 10) < 0.05)
        #expect(reader.tracks.allSatisfy { $0.isDecodable && $0.isDefault && $0.bitRate > 0 })
        guard case .audio(let sound) = reader.tracks[1].format else { return #expect(Bool(false), "no sound") }
        #expect(sound.codecName == "aac" && sound.sampleRate == 48_000 && sound.channelCount == 2 && sound.channelLayout == "stereo")
        #expect(!sound.configuration.isEmpty)
    }

    @Test func `a format tells rotation, pixel aspect, rate, crop and colour`() throws {
        #expect(try video("rotation-90.mp4").attributes.orientation == FrameOrientation(rotation: .clockwise90))
        #expect(try video("plain.mp4").attributes.orientation == .upright)
        #expect(try video("pixel-aspect-2.mp4").attributes.pixelAspect == Ratio(2, 1))
        #expect(try video("rate-23.976.mp4").frameRate == Ratio(24000, 1001))
        #expect(try video("rate-60.mp4").frameRate == Ratio(60, 1))
        #expect(try video("crop.mp4").visible.size == PixelSize(width: 318, height: 178))
        let bright = try video("hdr10.mp4").attributes
        #expect(bright.color.primaries == 9 && bright.color.transfer == 16 && bright.color.matrix == 9 && bright.color.range == .limited)
    }

    @Test func `samples come in file order with exact times and travel with their flags`() throws {
        let reader = try AssetReader(url: TestAssets.path("plain.mp4"))
        let all = try samples(reader)
        #expect(all.count == 30 && all[0].flags.contains(.sync) && all[0].byteCount > 0)
        let times = all.map(\.presentationTime).sorted()
        #expect(times == (0..<30).map { MediaTime(value: $0, timescale: 30) })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.decodeTime < $1.decodeTime })
        #expect(try reader.nextSample() == nil)
    }

    @Test func `an edit list hides the frames before it, and the film begins at zero with the first behind it`() throws {
        let reader = try AssetReader(url: TestAssets.path("edit-list.mp4"))
        let track = try #require(reader.tracks.first { $0.kind == .video })
        reader.select([track.id])
        let all = try samples(reader)
        let hidden = all.filter { $0.flags.contains(.doNotDisplay) }, shown = all.filter { !$0.flags.contains(.doNotDisplay) }
        #expect(hidden.count == 20)
        #expect(hidden.allSatisfy { $0.presentationTime < .zero })
        let first = try #require(shown.map(\.presentationTime).min())
        #expect(first >= .zero && first.seconds < 0.05)
    }

    @Test(arguments: [0, 0.5, 1.99, 2, 3.7, 9.9, -1])
    func `seek goes to the sync sample at or before, and hides what lies before the target`(seconds: Double) throws {
        let reader = try AssetReader(url: TestAssets.demo)
        reader.select([0])
        _ = try reader.nextSample()
        let target = MediaTime(seconds: seconds)
        try reader.seek(to: target)
        let rest = try samples(reader)
        let first = try #require(rest.first)
        #expect(first.flags.contains(.sync) && first.presentationTime <= max(target, .zero))
        #expect(max(target, .zero).seconds - first.presentationTime.seconds < 2.01)
        for sample in rest {
            let isEarly = sample.presentationTime + sample.duration <= max(target, .zero)
            #expect(sample.flags.contains(.doNotDisplay) == isEarly, "\(sample.presentationTime)")
        }
    }

    @Test func `a time range cuts both ends, decoding what must be decoded`() throws {
        let reader = try AssetReader(url: TestAssets.demo)
        reader.select([0])
        let range = MediaTimeRange(start: MediaTime(value: 5, timescale: 2), end: MediaTime(value: 3, timescale: 1))
        reader.timeRange = range
        let all = try samples(reader)
        let shown = all.filter { !$0.flags.contains(.doNotDisplay) }.map(\.presentationTime).sorted()
        #expect(shown == (75..<90).map { MediaTime(value: $0, timescale: 30) })
        #expect(all.first?.flags.contains(.sync) == true && all.count < 60)
    }

    @Test func `a damaged start gives the rest, an index without its film an error`() throws {
        let bytes = try #require(TextFile.bytes(of: TestAssets.path("plain.mp4")))
        let path = "/tmp/asset-reader-\(getpid()).mp4"
        defer { unsafe unlink(path) }
        for (count, code) in [(0, AssetError.Code.unrecognised), (bytes.count / 4, .damaged)] {
            guard let file = unsafe fopen(path, "we") else { return }
            unsafe fwrite(bytes, 1, count, file)
            unsafe fclose(file)
            #expect { _ = try AssetReader(url: path) } throws: { ($0 as? AssetError)?.code == code && "\($0)".hasPrefix(path) }
        }
    }

    @Test(arguments: [
        ("/nowhere/film.mp4", AssetError.Code.noSuchFile, "no such file"), ("/tmp", .cannotOpen, "folder"), ("odd:thing", .cannotOpen, "unknown"),
        (#filePath, .unrecognised, "recognised"), ("http://127.0.0.1:1/film.mp4", .network, "refused"),
    ])
    func `what cannot be opened is named, with the cause`(location: String, code: AssetError.Code, cause: String) {
        #expect { _ = try AssetReader(url: location) } throws: { error in
            guard let error = error as? AssetError else { return false }
            return error.code == code && error.description.hasPrefix("\(location): ") && error.description.contains(cause)
        }
    }

    @Test func `a raw stream can be named where it cannot be recognised`() throws {
        let reader = try AssetReader(url: TestAssets.path("annexb.h264"), options: AssetReaderOptions(containerName: "h264"))
        #expect(reader.containerName == "h264")
        #expect(try samples(reader).count == 50)
        #expect { _ = try AssetReader(url: TestAssets.demo, options: AssetReaderOptions(containerName: "nonsense")) } throws: {
            "\($0)".contains("no container called nonsense")
        }
    }

    @Test(.timeLimit(.minutes(1))) func `cancel ends a read that waits for a pipe, and all that follow`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let bytes = try #require(TextFile.bytes(of: TestAssets.path("annexb.h264")))
        // Enough to be recognised; the writer's end stays open, so that the reader waits.
        let (input, output) = (ends[0], ends[1])
        #expect(unsafe write(output, bytes, min(bytes.count, 60_000)) > 0)
        let cancellation = AssetCancellation()
        let canceller = LoopThread(name: "canceller") {
            // It has read all that there is, and waits for more.
            #expect(PipeState.isDrained(input))
            cancellation.cancel()
        }
        do {
            let reader = try AssetReader(url: "pipe:\(input)", options: AssetReaderOptions(containerName: "h264", cancellation: cancellation))
            while try reader.nextSample() != nil {}
            Issue.record("the end came before the cancellation")
        } catch {
            #expect(error.code == .cancelled)
        }
        canceller.join()
        close(input)
        close(output)
    }

    @Test func `a cover is one frame`() throws {
        let reader = try AssetReader(url: TestAssets.path("cover.m4a"))
        #expect(reader.tracks.map(\.kind) == [.audio, .attachedPicture])
        reader.select([1])
        #expect(try samples(reader).count == 1)
    }
}
