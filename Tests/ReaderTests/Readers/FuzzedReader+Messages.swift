import CAV
import Media
import SampleQueue
import Sandbox
import SurfacePool

@testable import Decoding
@testable import Demuxing
@testable import FrameExport
@testable import SoundDecoding

// The messages of processes that are not trusted, and of clients of the export socket. What was read is written again, and read as the same.

extension FuzzedReader {
    static let messages: [FuzzedReader] = [
        FuzzedReader("decoder-requests", decoderRequests.map { request in wire { $0.put(request) } }) { bytes in
            isSame({ try DecoderRequest($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("decoder-answers", decoderAnswers.map { answer in wire { $0.put(answer) } }) { bytes in
            areSame({ try DecoderAnswer(&$0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("memory-grants", [MemoryGrant.granted(slot: 5, kind: .memfd), .denied("no room"), .released(slot: 77), .ping].map(grant)) {
            bytes in
            isSame({ try MemoryGrant($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("memory-wishes", memoryWishes.map { wish in wire { $0.put(wish) } }) { bytes in
            isSame({ try MemoryWish($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("demuxer-requests", demuxerRequests.map { request in wire { $0.put(request) } }) { bytes in
            isSame({ try DemuxerRequest($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("demuxer-answers", demuxerAnswers.map { answer in wire { $0.put(answer) } }) { bytes in
            isSame({ try DemuxerAnswer($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("sound-requests", soundRequests.map { request in wire { $0.put(request) } }) { bytes in
            isSame({ try SoundRequest($0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("sound-answers", soundAnswers.map { answer in wire { $0.put(answer) } }) { bytes in
            areSame({ try SoundAnswer(&$0) }, { $0.put($1) }, bytes)
        },
        FuzzedReader("export-messages", exportMessages, readExport),
    ]

    // MARK: Reading

    private static func wire(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    /// Reads a message, writes it, and reads it again.
    private static func isSame<Message: Hashable>(
        _ read: (ArraySlice<UInt8>) throws -> Message, _ write: (inout WireWriter, Message) -> Void, _ bytes: [UInt8]
    ) -> Bool {
        guard let message = try? read(bytes[...]) else { return false }
        let again = wire { write(&$0, message) }
        precondition((try? read(again[...])) == message, "\(message) is read as another")
        return true
    }

    /// The same of messages one after the other.
    private static func areSame<Message: Hashable>(
        _ read: (inout WireReader) throws -> Message, _ write: (inout WireWriter, Message) -> Void, _ bytes: [UInt8]
    ) -> Bool {
        var reader = WireReader(bytes[...]), wasTaken = false
        while !reader.isAtEnd, let message = try? read(&reader) {
            wasTaken = true
            var again = WireReader(wire { write(&$0, message) }[...])
            precondition((try? read(&again)) == message && again.isAtEnd, "\(message) is read as another")
        }
        return wasTaken
    }

    /// A client's or a server's bytes, as they come: in pieces. The first one says how long each is.
    private static func readExport(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        var parser = UnixFDParser(payloadLimit: 1024), rest = bytes.dropFirst(), wasTaken = false, caps: VideoCaps?
        while !rest.isEmpty {
            parser.append(rest.prefix(Int(first) + 1))
            rest = rest.dropFirst(Int(first) + 1)
            do throws(ExportError) {
                while let message = try parser.next() {
                    precondition(message.payload.count <= 1024)
                    switch message.command {
                    case .newBuffer:
                        let buffer = try UnixFDBuffer(payload: message.payload)
                        if let caps { _ = try buffer.layout(caps) }
                        wasTaken = true
                    case .caps:
                        caps = try VideoCaps(text: text(message.payload.dropLast()))
                        wasTaken = true
                    case .releaseBuffer, .endOfStream, .film, .films, nil: break
                    }
                }
            } catch { return wasTaken }
        }
        return wasTaken
    }

    // MARK: Seeds

    private static func grant(_ grant: MemoryGrant) -> [UInt8] { wire { $0.put(grant) } }

    private static let film = VideoFormat(
        codec: .hevc, codedSize: PixelSize(width: 1920, height: 1088), visible: PixelRect(x: 0, y: 4, width: 1920, height: 1080),
        attributes: FrameAttributes(pixelAspect: Ratio(16, 11), color: .bt709), frameRate: Ratio(30000, 1001), profile: 2, level: 153,
        codecTag: 0x3163_7668, bitsPerCodedSample: 24, reorderDepth: 2)
    private static let sound = AudioFormat(
        codecName: "aac", sampleRate: 48_000, channelCount: 6, channelLayout: "5.1", encoderDelay: 1024, bitsPerCodedSample: 16, blockAlign: 4,
        bitRate: 128_000, profile: 1, codecTag: 3, frameSize: 1024)
    private static let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 640, height: 360))

    private static var decoderRequests: [DecoderRequest] {
        let options = DecoderOptions(threads: 7, holdCount: 9, specification: DecoderSpecification(hardware: .disable))
        let sample = SampleDescriptor(
            number: 7, sampleNumber: 1 << 40, offset: 1 << 20, byteCount: 12345, sideByteCount: 18, isInRing: true, presentationTime: .zero,
            decodeTime: .invalid, duration: MediaTime(value: 1001, timescale: 30_000), sourcePresentationTimestamp: -5, sourceDecodeTimestamp: nil,
            sourceTimeBase: Ratio(1, 90_000), flags: [.sync], packetFlags: 1, instructions: DecodeInstructions())
        return [
            .configure(format: film, options: options, configurationByteCount: 77), .change(format: film, configurationByteCount: 0),
            .sample(sample), .drain(number: 3), .flush(number: 0, interruptions: 70_000),
        ]
    }

    private static var decoderAnswers: [DecoderAnswer] {
        let error = DecodingError(.invalidData, "the hevc decoder failed: Ungültige Daten", status: -1_094_995_529)
        var frame = FrameDescriptor(
            slot: 12, visible: PixelRect(x: 8, y: 2, width: 640, height: 360), attributes: film.attributes, presentationTime: .zero,
            duration: .invalid, sourceTimestamp: .min, sourceTimeBase: Ratio(1, 12_800), flags: [.sync], sampleNumber: 4)
        frame.metadata.hdr10Plus = [0xB5, 0, 0x3C, 0, 1, 4, 1, 64]
        frame.metadata.dolbyVisionRPU = [0x19, 8, 9]
        return [
            .confined(SandboxReport(measures: [.landlock], landlockVersion: 7, troubles: ["no", ""])), .ready(decoderName: "h264", driver: "iHD"),
            .refused(error), .frame(frame), .dropped(sampleNumber: 9, .doNotDisplay), .failed(sampleNumber: 0, error),
            .done(number: 9, bytesWritten: 100, bytesCopied: 0, freed: [1, 2]),
        ]
    }

    private static var memoryWishes: [MemoryWish] {
        [.want(layout), .offer(slot: 9, layout), .gone(slot: 4), .pong(isExhausted: true)]
    }

    private static var demuxerRequests: [DemuxerRequest] {
        let source = DemuxerSource(number: 0, isSeekable: true, byteCount: 1 << 40)
        let opening = DemuxerOpening(name: "film.mp4", containerName: "mov", libraryOptions: ["a": "b"], isThorough: true, source: source)
        return [
            .open(opening), .timeline(source), .read, .seek(MediaTime(value: 1001, timescale: 30_000)), .select([0, 5]),
            .timeRange(MediaTimeRange(start: .zero, end: .positiveInfinity)), .bytes(65_536), .other(.opened(source)), .other(.missing),
        ]
    }

    private static var demuxerAnswers: [DemuxerAnswer] {
        let base = Ratio(1, 48_000), ten = MediaTime(value: 10, timescale: 1)
        let video = AssetTrack(
            id: 0, kind: .video, format: .video(film), timeBase: base, duration: ten, bitRate: 5, language: "deu", title: "Film", isDefault: true,
            isDecodable: true)
        let audio = AssetTrack(
            id: 1, kind: .audio, format: .audio(sound), timeBase: base, duration: .indefinite, bitRate: 0, language: nil, title: nil,
            isDefault: false, isDecodable: true)
        let sample = DemuxedSample(
            trackID: 3, presentationTime: .zero, decodeTime: MediaTime(value: -1, timescale: 25), duration: .invalid,
            sourcePresentationTimestamp: .min, sourceDecodeTimestamp: nil, sourceTimeBase: Ratio(1, 25), flags: [.sync], packetFlags: 1,
            fileOffset: 1 << 40, offset: 17, byteCount: 100_000, sideByteCount: 18)
        return [
            .bytes(source: 2, offset: 70, count: 4096), .other("sub/segment.ts"), .closed(source: 9),
            .opened(DemuxedFilm(trackCount: 2, duration: ten, containerName: "matroska,webm", title: "Tïtel", isSeekable: true)),
            .track(video, configurationOffset: 5, configurationByteCount: 40), .track(audio, configurationOffset: 0, configurationByteCount: 0),
            .text(name: "artist", "Ä"), .chapter(AssetChapter(range: MediaTimeRange(start: .zero, end: ten), title: "Eïns")),
            .timeline(byteCount: 100), .sample(sample), .part(byteCount: 1), .end, .failed(AssetError(.damaged, "cut short")), .done,
        ]
    }

    private static var soundRequests: [SoundRequest] {
        let packet = SoundPacket(byteCount: 100, sideByteCount: 18, time: -5, flags: 1)
        let packets = SoundPackets(number: 7, isApart: true, packets: [packet, packet])
        return [.configure(sound, configurationByteCount: 5), .packets(packets), .drain(number: 8), .flush(number: 9), .more(number: 10)]
    }

    private static var soundAnswers: [SoundAnswer] {
        let frame = SoundFrame(
            offset: 0, sampleFormat: AV_SAMPLE_FMT_FLTP.rawValue, rate: 48_000, frameCount: 1024, time: 0, channelCount: 2,
            channelOrder: AV_CHANNEL_ORDER_NATIVE.rawValue, channelMask: 3)
        return [
            .confined(SandboxReport()), .ready, .refused(AudioError(.noDecoder, "none")), .frame(frame), .full(number: 1),
            .done(number: 1, damaged: 1),
        ]
    }

    private static var exportMessages: [[UInt8]] {
        var buffer = UnixFDBuffer(id: 7, isDMABuf: false, memories: [UnixFDBuffer.Memory(size: 345_600, offset: 0)])
        buffer.videoMeta = GStreamerVideoMeta(format: 23, width: 640, height: 360, offsets: [0, 230_400], strides: [640, 640])
        buffer.mediaTime = 40_000_000
        let plain = UnixFDCommand.caps("video/x-raw, format=(string)NV12, width=(int)640, height=(int)360, pixel-aspect-ratio=(fraction)1/1")
        let device = UnixFDCommand.caps("video/x-raw(memory:DMABuf), format=DMA_DRM, drm-format=NV12:0x0100000000000002, width=640, height=360")
        let rest = UnixFDCommand.release(7) + UnixFDCommand.message(.endOfStream)
        return [[255] + plain + buffer.message, [9] + device + buffer.message + rest]
    }
}
