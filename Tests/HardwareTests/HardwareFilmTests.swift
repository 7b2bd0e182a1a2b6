import Decoding
import Demuxing
import DisplaySink
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

private let catalog = MediaCatalog.shared

/// This process's libva uses the software driver; set once, before the first device is opened.
private let isAdopted: Bool = {
    SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1"])
    return true
}()

/// Frames through libva are those of the software decoder, whoever made the film.
@Suite("films through libva", .serialized)
struct HardwareFilmTests {
    init() { #expect(isAdopted) }

    @Test(
        "our own films come out as in software, in surfaces of the driver's, without a copy, held frames untouched",
        arguments: ["plain.mp4", "vp9.webm", "demo.mp4", "annexb.h264", "size-change.h264", "crop.mp4"])
    func own(name: String) throws {
        let software = try HardwareFilm(TestAssets.path(name), .software)
        let hardware = try HardwareFilm(TestAssets.path(name), .required, holds: 5)
        #expect(software.hashes.count > 5)
        #expect(hardware.hashes == software.hashes && hardware.times == software.times)
        #expect(hardware.kinds == [.va] && hardware.backend.isHardware && hardware.bytesCopied == 0 && hardware.errors == [])
    }

    @Test("a stream that the driver does not serve is refused where hardware is required, and decoded in software where it is preferred")
    func unserved() throws {
        let path = TestAssets.path("hevc-10bit.mp4")
        #expect(throws: DecodingError.self) { try HardwareFilm(path, .required) }
        let film = try HardwareFilm(path, .preferred)
        #expect(!film.backend.isHardware && film.backend.reason?.contains("HEVCMain10") == true)
        #expect(film.hashes == (try HardwareFilm(path, .software)).hashes)
    }

    private static func film(_ name: String) throws -> (format: VideoFormat, samples: [SampleBuffer]) {
        let reader = try AssetReader(url: TestAssets.path(name))
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let format) = track.format else {
            throw HardwareFilm.NoVideo()
        }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return (format, samples)
    }

    @Test("films of one codec follow each other in the hardware; one that the hardware does not take needs another session")
    func formats() throws {
        let a = try Self.film("plain.mp4"), b = try Self.film("crop.mp4")
        #expect(a.format.configuration != b.format.configuration)
        func hashes(_ films: [(format: VideoFormat, samples: [SampleBuffer])], _ specification: DecoderSpecification) throws -> [String] {
            let session = try DecompressionSession(
                format: films[0].format, options: DecoderOptions(threads: 1, specification: specification))
            var hashes: [String] = []
            func receive(_ output: consuming DecodeOutput) {
                switch consume output {
                case .frame(let frame):
                    hashes.append(FrameHash().digest(of: frame))
                    #expect((frame.surface.memoryKind == .va) == (specification.hardware != .disable))
                case .dropped(let sample, let reason): Issue.record("sample \(sample.number): \(reason)")
                case .failed(_, let error): Issue.record("\(error)")
                }
            }
            for film in films {
                #expect(session.canAccept(film.format))
                for sample in film.samples { try session.decode(sample) { receive($0) } }
            }
            session.finishDelayedFrames { receive($0) }
            #expect(session.backend.isHardware == (specification.hardware != .disable))
            return hashes
        }
        let software = try hashes([a, b, a], .software), hardware = try hashes([a, b, a], .required)
        #expect(software.count == a.samples.count * 2 + b.samples.count && hardware == software)

        var unserved = a.format
        unserved.profile = 122  // High 4:2:2
        unserved.configuration.append(0)
        let inHardware = try DecompressionSession(format: a.format, options: DecoderOptions(specification: .preferred))
        #expect(!inHardware.canAccept(unserved), "the hardware in use does not take it")
        let inSoftware = try DecompressionSession(format: unserved, options: DecoderOptions(specification: .preferred))
        #expect(!inSoftware.backend.isHardware && !inSoftware.canAccept(a.format), "hardware is preferred, and could take it")
        let never = try DecompressionSession(format: unserved, options: DecoderOptions(specification: .software))
        #expect(never.canAccept(a.format))
    }

    @Test("a device that is none is named in the refusal")
    func noDevice() {
        #expect {
            try HardwareFilm(TestAssets.path("plain.mp4"), DecoderSpecification(hardware: .require, device: "/dev/dri/renderD999"))
        } throws: { error in
            (error as? DecodingError)?.code == .noHardware && "\(error)".contains("/dev/dri/renderD999")
        }
    }

    @Test(
        "third-party films", .enabled(if: catalog != nil, Comment(rawValue: MediaCatalog.absence)),
        .enabled(if: !TestExtent.isSanitized, "our own films lead a sanitizer through the same code in a tenth of the time"),
        arguments: ["h264", "vp9", "vp8", "mpeg2video"])
    func thirdParty(codec: String) throws {
        let catalog = try #require(catalog)
        var served = 0, unserved = 0
        for film in catalog.usual(codec: codec) {
            guard let name = film.frameMD5, let reference = FrameMD5File(path: catalog.path(name)) else { continue }
            guard let decoded = try? HardwareFilm(catalog.path(film.path), .preferred) else { continue }
            let isRight = decoded.hashes == reference.lines.map(\.hash)
            let known = Self.known[film.path]
            if decoded.history.contains("h") { served += 1 } else { unserved += 1 }
            #expect(isRight == (known == nil), "\(film.path): \(known ?? "differs"), \(decoded.history.prefix(100)), \(decoded.errors.prefix(3))")
        }
        print("\(codec): \(served) films through libva, \(unserved) in software because the driver does not serve their profile")
        #expect(served > 0)
    }

    /// Films that do not come out of libva as out of software, and why.
    static let known: [String: String] = [
        "mpeg2/hachoir/sample.ts": "the last frame is cut off; libavcodec's software conceals what is missing, the driver does not",
        "mpeg2/mpeg2fpga/greyramp.mpg": "as above",
        "mpeg2/tsduck/test-025.ts": "as above",
        "vp9/moviepy/transparent.webm": "the reference leaves the alpha out, with which no driver decodes",
    ]
}
