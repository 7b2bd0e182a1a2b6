import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// What a demuxer says is read back as it was written, and nothing beyond the bounds is ever taken for a message.
@Suite struct DemuxerMessageTests {
    // Made anew each time: LeakSanitizer does not find what a stored one holds, whose pointers share their words with an enumeration's case.
    private static var video: AssetTrack {
        AssetTrack(
            id: 0, kind: .video,
            format: .video(
                VideoFormat(
                    codec: .h264, codedSize: PixelSize(width: 1920, height: 1088),
                    attributes: FrameAttributes(pixelAspect: Ratio(1, 1), color: .bt709),
                    frameRate: Ratio(24000, 1001), profile: 100, level: 40, codecTag: 7, reorderDepth: 2)), timeBase: Ratio(1, 24000),
            duration: MediaTime(value: 10, timescale: 1), bitRate: 5_000_000, language: "deu", title: "Der Film", isDefault: true, isDecodable: true)
    }
    private static var audio: AssetTrack {
        AssetTrack(
            id: 1, kind: .audio,
            format: .audio(
                AudioFormat(
                    codecName: "aac", sampleRate: 48_000, channelCount: 6, channelLayout: "5.1", encoderDelay: 1024, bitsPerCodedSample: 16,
                    blockAlign: 4,
                    bitRate: 128_000, profile: 1, codecTag: 3, frameSize: 1024)), timeBase: Ratio(1, 48_000), duration: .indefinite, bitRate: 0,
            language: nil, title: nil, isDefault: false, isDecodable: true)
    }
    private static var other: AssetTrack {
        AssetTrack(
            id: 999, kind: .subtitle, format: .other("subrip"), timeBase: Ratio(1, 1000), duration: .invalid, bitRate: -1, language: "", title: "x",
            isDefault: false, isDecodable: false)
    }

    private static var requests: [DemuxerRequest] {
        [
            .open(
                DemuxerOpening(
                    name: "film.mp4", containerName: "mov", libraryOptions: ["a": "b", "c": ""], isThorough: true,
                    source: DemuxerSource(number: 0, isSeekable: true, byteCount: 1 << 40))),
            .open(
                DemuxerOpening(
                    name: "film", containerName: nil, libraryOptions: [:], isThorough: false,
                    source: DemuxerSource(number: 0, isSeekable: false, byteCount: nil))),
            .read, .seek(MediaTime(value: 1001, timescale: 30000)), .select([0, 5, 999]), .select([]),
            .timeRange(MediaTimeRange(start: .zero, end: .positiveInfinity)), .bytes(-541_478_725), .bytes(65_536),
            .other(.opened(DemuxerSource(number: 70, isSeekable: true, byteCount: 0))), .other(.missing), .other(.refused),
            .timeline(DemuxerSource(number: 0, isSeekable: true, byteCount: 64 << 20)),
        ]
    }
    private static let sample = DemuxedSample(
        trackID: 3, presentationTime: .zero, decodeTime: MediaTime(value: -1, timescale: 25), duration: .invalid, sourcePresentationTimestamp: .min,
        sourceDecodeTimestamp: nil, sourceTimeBase: Ratio(1, 25), flags: [.sync, .doNotDisplay], packetFlags: 1, fileOffset: 1 << 40, offset: 17,
        byteCount: 100_000,
        sideByteCount: 18)
    private static var answers: [DemuxerAnswer] {
        [
            .confined(SandboxReport(measures: [.landlock], landlockVersion: 7, troubles: ["no"])),
            .bytes(source: 2, offset: .max, count: DemuxerAnswer.windowByteCount), .other("sub/segment.ts"), .closed(source: 9),
            .opened(DemuxedFilm(trackCount: 1000, duration: .indefinite, containerName: "matroska,webm", title: "Tïtel", isSeekable: true)),
            .opened(DemuxedFilm(trackCount: 0, duration: .zero, containerName: "", title: nil, isSeekable: false)),
            .track(video, configurationOffset: 5, configurationByteCount: 40), .track(audio, configurationOffset: 0, configurationByteCount: 0),
            .track(other, configurationOffset: DemuxerAnswer.trayByteCount, configurationByteCount: 0), .sample(sample), .part(byteCount: 1), .end,
            .failed(AssetError(.damaged, "cut short")), .failed(AssetError(.notSeekable, "")), .done,
            .timeline(byteCount: 0), .timeline(byteCount: DemuxerAnswer.trayByteCount), .text(name: "artist", "Ä, B"), .text(name: "", ""),
            .chapter(
                AssetChapter(range: MediaTimeRange(start: .zero, end: MediaTime(value: 1001, timescale: 30000)), title: "Eïns")),
        ]
    }

    private static func bytes(_ answer: DemuxerAnswer) -> [UInt8] {
        var writer = WireWriter()
        writer.put(answer)
        return writer.bytes
    }

    private static func bytes(_ request: DemuxerRequest) -> [UInt8] {
        var writer = WireWriter()
        writer.put(request)
        return writer.bytes
    }

    @Test func `every message is read as it was written, and fits a packet`() throws {
        for request in Self.requests { #expect(try DemuxerRequest(Self.bytes(request)[...]) == request) }
        for answer in Self.answers {
            #expect(try DemuxerAnswer(Self.bytes(answer)[...]) == answer)
            #expect(Self.bytes(answer).count <= WireWriter.capacity)
        }
    }

    @Test func `a message cut short or prolonged is none`() {
        for bytes in Self.answers.map(Self.bytes) {
            for length in 0..<bytes.count { #expect(throws: WireError.self) { _ = try DemuxerAnswer(bytes[..<length]) } }
            #expect(throws: WireError.self) { _ = try DemuxerAnswer((bytes + [0])[...]) }
        }
    }

    @Test func `the longest texts of a track fit a packet, without control characters`() throws {
        var track = Self.audio
        track.language = String(repeating: "ü", count: 3000)
        track.title = "\u{1b}[2J" + String(repeating: "a\n", count: 3000)
        guard case .audio(var format) = track.format else { return }
        format.channelLayout = String(repeating: "x", count: 900)
        track.format = .audio(format)
        let bytes = Self.bytes(.track(track, configurationOffset: 0, configurationByteCount: 0))
        #expect(bytes.count <= WireWriter.capacity)
        guard case .track(let read, _, _) = try DemuxerAnswer(bytes[...]) else { Issue.record("another message"); return }
        #expect(read.title?.hasPrefix("[2Jaaa") == true && read.language?.hasPrefix("üü") == true)
    }

    @Test func `changed bytes give a message within its bounds, or an error`() {
        var dice = Dice(seed: 0xde_00c5)
        let messages = Self.answers.map(Self.bytes)
        var refused = 0
        for _ in 0..<30_000 {
            var bytes = messages.randomElement(using: &dice)!
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            do {
                switch try DemuxerAnswer(bytes[...]) {
                case .bytes(_, let offset, let count): #expect(offset >= 0 && count > 0 && count <= DemuxerAnswer.windowByteCount)
                case .track(let track, let offset, let count):
                    #expect(offset + count <= DemuxerAnswer.trayByteCount && track.id < DemuxerAnswer.mostTracks && track.timeBase.isKnown)
                    if case .audio(let format) = track.format {
                        #expect(format.sampleRate >= 0 && format.channelCount >= 0 && format.blockAlign >= 0)
                    }
                    if case .video(let format) = track.format { #expect((0...16).contains(format.reorderDepth)) }
                case .sample(let sample): #expect(sample.byteCount <= DemuxerAnswer.largestSample && sample.offset <= DemuxerAnswer.trayByteCount)
                default: break
                }
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test func `what no film has is left out of what is said of one`() throws {
        var track = Self.video
        guard case .video(var format) = track.format else { return }
        (format.reorderDepth, format.bitsPerCodedSample, format.codedSize) = (-3, .max, PixelSize(width: 1 << 20, height: 4))
        track.format = .video(format)
        let bytes = Self.bytes(.track(track, configurationOffset: 0, configurationByteCount: 0))
        guard case .track(let read, _, _) = try DemuxerAnswer(bytes[...]), case .video(let said) = read.format else {
            Issue.record("another message")
            return
        }
        #expect(said.reorderDepth == 0 && said.bitsPerCodedSample == 1024 && said.codedSize == PixelSize(width: 0, height: 0))
    }

    @Test func `a track is of one kind, and its numbers are counts`() {
        func refuses(_ change: (inout AssetTrack) -> Void, _ track: AssetTrack = Self.audio) {
            var track = track
            change(&track)
            #expect(throws: WireError.self) {
                _ = try DemuxerAnswer(Self.bytes(.track(track, configurationOffset: 0, configurationByteCount: 0))[...])
            }
        }
        refuses { $0.kind = .video }
        // The program would open libavcodec's decoder of this name, outside of any sandbox.
        for codec in ["h264", "subrip", "dvd_subtitle"] {
            refuses {
                guard case .audio(var format) = $0.format else { return }
                format.codecName = codec
                $0.format = .audio(format)
            }
        }
        refuses { $0.timeBase = Ratio(0, 1) }
        refuses { $0.timeBase = Ratio(1, -1) }
        #expect(throws: WireError.self) {
            _ = try DemuxerAnswer(
                Self.bytes(.track(Self.audio, configurationOffset: 1, configurationByteCount: DemuxerAnswer.trayByteCount))[...])
        }
    }
}
