import Demuxing
import DisplaySink
import Foundation
import Media
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// Subtitles drawn in a process of its own: the same images, and images that outlive the process.
@Suite struct SandboxedSubtitleTests {
    private static let srt = "1\n00:00:01,000 --> 00:00:02,000\nHello <i>you</i>\n\n2\n00:00:03,000 --> 00:00:03,500\nÄgypten\n"
    private static let ass = """
        [Script Info]
        ScriptType: v4.00+
        PlayResX: 160
        PlayResY: 90
        [V4+ Styles]
        Format: Name, Fontname, Fontsize, PrimaryColour, Alignment
        Style: Default,DejaVu Serif,20,&H000000FF,7
        [Events]
        Format: Layer, Start, End, Style, Text
        Dialogue: 0,0:00:01.00,0:00:02.00,Default,{\\move(0,0,80,40)}Moving
        Dialogue: 0,0:00:01.50,0:00:03.00,Default,{\\fad(500,0)}Fading

        """
    private let stage: SubtitleStage

    init() throws { stage = try SubtitleStage() }

    private static let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))

    /// What an engine shows in five seconds, image by image.
    private static func images(_ engine: SubtitleEngine) -> [SubtitlePixels?] {
        defer { engine.stop() }
        return stride(from: Int64(0), to: 5000, by: 100).map { engine.shown(at: $0).map(SubtitlePixels.init) }
    }

    @Test(
        arguments: [
            ("film.mkv", ["-c:s", "srt"]), ("film.mp4", ["-c:v", "mpeg4", "-c:s", "mov_text"]), ("film.mkv", ["-c:s", "webvtt"]),
            ("film.mkv", ["-c:s", "copy"]),
        ])
    func `text of a film looks as it does here`(_ name: String, _ arguments: [String]) throws {
        let isStyled = arguments.last == "copy"
        let text = try stage.write(isStyled ? "a.ass" : "a.srt", isStyled ? Self.ass : Self.srt)
        let path = try stage.film(name, subtitles: text, arguments)
        let own = Self.images(try SubtitleStage.play(path)), other = Self.images(try SubtitleStage.play(path, sandbox: Self.sandbox))
        #expect(own == other)
        #expect(own.contains { $0 != nil } && own.contains { $0 == nil })
    }

    @Test(arguments: [("a.sup", []), ("film.ts", ["-c:s", "dvbsub"]), ("film.mkv", ["-c:s", "dvdsub"])] as [(String, [String])])
    func `images of a film and of a file look as they do here`(_ name: String, _ arguments: [String]) throws {
        let file = try stage.write(
            "a.sup", PGSFile.bytes(PixelRect(x: 40, y: 60, width: 80, height: 20), on: PixelSize(width: 160, height: 90), times: (1000, 2000)))
        let input = ["-itsoffset", "1", "-fix_sub_duration"]
        let path = arguments.isEmpty ? nil : try stage.film(name, subtitles: file, input: input, ["-s:s", "160x90"] + arguments)
        let images = try [SandboxOptions(), Self.sandbox].map { sandbox in
            let engine =
                try path.map { try SubtitleStage.play($0, sandbox: sandbox) } ?? SubtitleStage.engine([SubtitleTrack(.named(file))], sandbox: sandbox)
            return Self.images(engine)
        }
        #expect(images[0] == images[1] && images[0].contains { $0 != nil })
    }

    @Test func `delay, size, place and the choice of a track take effect at once`() throws {
        let files = try [stage.write("a.srt", Self.srt), stage.write("b.vtt", "WEBVTT\n\n00:04.000 --> 00:05.000\nLater\n")]
        let outcomes = [SandboxOptions(), Self.sandbox].map { sandbox -> [SubtitlePixels?] in
            let engine = SubtitleStage.engine(files.map { SubtitleTrack(.named($0)) }, sandbox: sandbox)
            defer { engine.stop() }
            var images: [OverlayImage?] = [engine.shown(at: 1500)]
            engine.settings.delay = 2600
            images += [engine.shown(at: 1500), engine.shown(at: 4500)]
            engine.settings = SubtitleSettings()
            engine.settings.scale = 2
            engine.settings.position = 50
            images.append(engine.shown(at: 1500))
            engine.settings.isVisible = false
            images.append(engine.shown(at: 1500))
            engine.settings = SubtitleSettings()
            engine.chosen = 1
            images += [engine.shown(at: 1500), engine.shown(at: 4500)]
            engine.chosen = nil
            images.append(engine.shown(at: 4500))
            engine.chosen = 0
            engine.setCanvas(OverlayCanvas(size: PixelSize(width: 640, height: 360), film: PixelRect(x: 0, y: 0, width: 640, height: 360)))
            images.append(engine.shown(at: 1500))
            return images.map { $0.map(SubtitlePixels.init) }
        }
        #expect(outcomes[0] == outcomes[1])
        #expect(outcomes[0].map { $0 != nil } == [true, false, true, true, false, false, true, false, true])
    }

    @Test func `a font that a film brings is used`() throws {
        let file = try stage.write("a.ass", Self.ass.replacingOccurrences(of: "DejaVu Serif", with: "Zzjavu Sans Mono"))
        let fonts = [AttachedFont(name: "mono.ttf", bytes: try SubtitleStage.font(named: "Zzjavu Sans Mono"))]
        let images = [([], SandboxOptions()), (fonts, SandboxOptions()), (fonts, Self.sandbox)].map { fonts, sandbox in
            Self.images(SubtitleStage.engine([SubtitleTrack(.named(file))], fonts: fonts, sandbox: sandbox))
        }
        #expect(images[0] != images[1] && images[1] == images[2])
    }

    @Test func `what is no file of subtitles is named in the same words`() throws {
        let zeros = [UInt8](repeating: 0, count: 100)
        for file in try [stage.write("a.srt", zeros), stage.write("b.mkv", [1, 2, 3]), stage.write("c.srt", []), "/nowhere.srt"] {
            let notices = [SandboxOptions(), Self.sandbox].map { sandbox in
                let notices = SubtitleStage.Notices()
                let engine = SubtitleStage.engine([SubtitleTrack(.named(file))], sandbox: sandbox, notices: notices)
                defer { engine.stop() }
                _ = notices.wait()
                #expect(engine.shown(at: 0) == nil)
                return notices.texts
            }
            #expect(notices[0] == notices[1] && notices[0].count == 1, "\(notices)")
        }
    }

    @Test func `without the program they are drawn here, or not at all where the container is not read here either`() throws {
        let file = try stage.write("a.srt", Self.srt)
        for policy in SandboxPolicy.allCases {
            let notices = SubtitleStage.Notices(), sandbox = SandboxOptions(policy: policy, decoderPath: "/bin/true")
            let engine = SubtitleStage.engine([SubtitleTrack(.named(file))], sandbox: sandbox, notices: notices)
            defer { engine.stop() }
            #expect((engine.shown(at: 1500) == nil) == policy.includesDemuxer, "\(policy)")
            let sentence = "Subtitles are not shown: the program scanout-subtitles does not lie beside /bin/true."
            #expect(notices.texts == (policy.includesDemuxer ? [sentence] : []))
        }
    }
}

/// An image as a value.
struct SubtitlePixels: Hashable {
    var place: PixelRect
    var pixels: [UInt32]

    init(_ image: OverlayImage) { (place, pixels) = (image.place, image.pixels) }
}
