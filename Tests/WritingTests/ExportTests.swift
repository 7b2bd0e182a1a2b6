import Encoding
import Glibc
import Media
import Reading
import SampleQueue
import SurfacePool
import TestSupport
import Testing
import Writing

/// Films that are decoded and encoded anew.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct ExportTests {
    static func settings(_ video: String, audio: String = "none") throws -> ExportSettings {
        var settings = ExportSettings()
        settings.video = try .encode(ExportSettings.Codec(videoText: video))
        settings.audio = audio == "none" ? .leaveOut : audio == "copy" ? .copy : try .encode(ExportSettings.Codec(audioText: audio))
        return settings
    }

    static func probe(_ path: String, _ entries: String, _ stream: String = "v:0") -> [String] {
        Probe.lines("ffprobe -v quiet -select_streams \(stream) -show_entries \(entries) -of default=nk=1:nw=1 '\(path)'")
    }

    @Test func `a lossless codec gives the frames of the source, which are encoded where they were decoded`() throws {
        let scratch = Scratch(), path = scratch.path("film.mkv")
        var settings = try Self.settings("ffv1")
        settings.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
        let session = try ExportSession(from: TestAssets.demo, to: path, settings: settings)
        try session.run()
        let made = Probe.frames(path), wanted = Array(Probe.frames(TestAssets.demo).prefix(30))
        #expect(made == wanted && !made.isEmpty, "\(made.count) frames")
        #expect(session.statistics.bytesCopied == 0 && session.notices.isEmpty, "\(session.notices)")
    }

    @Test func `a part of a film has exactly its frames, and its sound lasts as long`() throws {
        let scratch = Scratch(), path = scratch.path("part.mkv")
        var settings = try Self.settings("ffv1", audio: "pcm_s16le")
        settings.timeRange = MediaTimeRange(start: MediaTime(value: 35, timescale: 10), duration: MediaTime(value: 1, timescale: 2))
        try ExportSession(from: TestAssets.demo, to: path, settings: settings).run()
        #expect(Probe.frames(path) == Array(Probe.frames(TestAssets.demo)[105..<120]))
        let output = try AudioTrackOutput(url: path)
        var count = 0, rate = 0
        while let buffer = try output.nextBuffer() {
            count += buffer.frameCount
            rate = Int(buffer.sampleRate)
        }
        #expect(count == rate / 2 && count > 0)
    }

    @Test(arguments: [("mp4", "h264", "aac"), ("mov", "h264", "aac"), ("webm", "vp9", "opus"), ("ts", "h264", "aac")])
    func `the usual codecs of a container are read by others to the end`(ending: String, video: String, audio: String) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        var settings = ExportSettings()
        settings.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
        settings.size = PixelSize(width: 160, height: 0)
        settings.writer.metadata = ["title": "A film"]
        var last = FilmCopy.Progress()
        try ExportSession(from: TestAssets.demo, to: path, settings: settings).run(isEnded: { false }, { last = $0 })
        #expect(Self.probe(path, "stream=codec_name").first == video && Self.probe(path, "stream=codec_name", "a:0").first == audio)
        #expect(Probe.frames(path).count == 30 && scratch.names == ["film.\(ending)"])
        #expect(last.duration == MediaTime(value: 1, timescale: 1) && last.time.seconds > 0.9 && last.byteCount > 0)
    }

    @Test func `colours, aspect and the track's language survive, and scaling keeps the shape`() throws {
        let scratch = Scratch(), source = scratch.path("source.mp4"), path = scratch.path("made.mp4")
        let made = unsafe system(
            """
            ffmpeg -nostdin -v quiet -f lavfi -i testsrc2=s=192x128:r=25:d=0.4 -c:v libx264 -pix_fmt yuv420p -color_primaries bt2020 \
            -color_trc smpte2084 -colorspace bt2020nc \
            -vf setsar=4/3,setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc:range=tv \
            -color_range tv -metadata title=Name -metadata:s:v language=fra '\(source)'
            """)
        try #require(made == 0)
        var settings = try Self.settings("h264:preset=ultrafast")
        settings.size = PixelSize(width: 96, height: 128)
        try ExportSession(from: source, to: path, settings: settings).run()
        let facts = "stream=width,height,sample_aspect_ratio,color_space,color_transfer,color_primaries:stream_tags=language"
        #expect(Self.probe(path, facts) == ["96", "128", "8:3", "bt2020nc", "smpte2084", "bt2020", "fra"])
        #expect(Probe.lines("ffprobe -v quiet -show_entries format_tags=title -of csv=p=0 '\(path)'") == ["Name"])
    }

    @Test func `an end on request leaves a whole film, a cancelled export none`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        var seen = 0
        let settings = try Self.settings("h264:preset=ultrafast,tune=zerolatency")
        try ExportSession(from: TestAssets.demo, to: path, settings: settings).run(isEnded: { seen >= 20 }, { seen = $0.sampleCount })
        #expect(Probe.frames(path).count == seen && seen >= 20 && seen < 30, "\(seen)")
        let session = try ExportSession(from: TestAssets.demo, to: scratch.path("none.mp4"), settings: settings)
        #expect(throws: ExportError.cancelled) {
            try session.run(isEnded: { false }, { if $0.sampleCount == 10 { session.cancel() } })
        }
        #expect(scratch.names == ["film.mp4"])
    }

    @Test func `what cannot be made is one sentence that lists what can`() throws {
        let scratch = Scratch()
        func sentence(_ path: String, _ video: String) -> String {
            do {
                _ = try ExportSession(from: TestAssets.demo, to: scratch.path(path), settings: try Self.settings(video))
                return ""
            } catch { return "\(error)" }
        }
        #expect(sentence("a.mp4", "h999").hasPrefix("h999: this FFmpeg has no video encoder of that name; it encodes h264, "))
        #expect(sentence("a.webm", "h264").contains("webm cannot hold h264; of what can be encoded it holds "))
        #expect(sentence("a.mp4", "h264:preset") == "h264:preset: options are written CODEC:key=value,key=value.")
        #expect(sentence("a.mp4", "h264:nothing=1").contains("has no option nothing"))
        #expect(scratch.names.isEmpty)
    }
}
