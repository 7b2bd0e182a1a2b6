import Decoding
import Demuxing
import Dispatch
import Encoding
import Foundation
import Media
import Reading
import SampleQueue
import SurfacePool
import TestSupport
import Testing
import Writing

/// Films that are encoded in several passes.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct PassesTests {
    /// Bits a second of the film's frames.
    private static func rate(_ path: String, seconds: Double) -> Double {
        let sizes = Probe.lines("ffprobe -v quiet -select_streams v:0 -show_entries packet=size -of default=nk=1:nw=1 '\(path)'")
        return Double(sizes.compactMap { Int($0) }.reduce(0, +)) * 8 / seconds
    }

    /// FFmpeg's figure for the luma: `ssim` or `psnr`.
    private static func measure(_ filter: String, _ made: String, _ source: String) -> Double? {
        let letter = filter == "ssim" ? "Y" : "y"
        let graph = "'[0:v][1:v]\(filter)' -f null - 2>&1 | grep Parsed_ | tail -1"
        let text = Probe.lines("ffmpeg -nostdin -v info -i '\(made)' -i '\(source)' -lavfi \(graph)")
        guard let line = text.last, let place = line.range(of: "\(letter):") else { return nil }
        return Double(line[place.upperBound...].prefix { $0.isNumber || $0 == "." })
    }

    private static let scenes =
        "ffmpeg -nostdin -y -v quiet -f lavfi -i testsrc2=s=160x90:r=25:d=2 -f lavfi -i mandelbrot=s=160x90:r=25 -filter_complex "
        + "'[1:v]trim=duration=2,setpts=PTS-STARTPTS[m];[0:v][m]concat=n=2:v=1,format=yuv420p' -c:v ffv1 -g 1"

    @Test(arguments: [("mp4", "libx264:preset=ultrafast", 400_000), ("mkv", "libx264:preset=ultrafast", 200_000), ("mov", "mpeg4", 500_000)])
    func `a rate is kept to one percent, and the passes are told`(ending: String, codec: String, wanted: Int) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        var settings = try ExportTests.settings(codec)
        settings.audio = .usual
        settings.timeRange = MediaTimeRange(start: MediaTime(value: 1, timescale: 1), duration: MediaTime(value: 4, timescale: 1))
        settings.videoBitRate = wanted
        settings.size = PixelSize(width: 320, height: 0)
        settings.passes = MultiPassOptions(maximumPassCount: 6)
        var told: [Int] = []
        let session = try ExportSession(from: TestAssets.demo, to: path, settings: settings)
        try session.run(isEnded: { false }, { if let pass = $0.pass, told.last != pass { told.append(pass) } })
        let rate = Self.rate(path, seconds: 4)
        #expect(abs(rate / Double(wanted) - 1) < 0.01, "\(rate) bits a second")
        #expect(told.count >= 2 && told == Array(1...told.count) && scratch.names == ["film.\(ending)"])
        #expect(Probe.frames(path).count == 120 && session.notices.contains { $0.contains("was encoded in \(told.count) passes: 120 frames") })
    }

    /// PCM has exactly its rate; codecs with losses spend less on silence than they are allowed.
    @Test(arguments: [("mp4", "none"), ("mkv", "pcm_s16le"), ("ts", "none"), ("mp4", "aac")])
    func `a film comes to the size that is wanted`(ending: String, audio: String) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        var settings = try ExportTests.settings("libx264:preset=ultrafast", audio: audio)
        settings.byteCount = audio == "pcm_s16le" ? 2_800_000 : 600_000
        settings.passes = MultiPassOptions(maximumPassCount: 5)
        try ExportSession(from: TestAssets.demo, to: path, settings: settings).run()
        var facts = stat()
        unsafe stat(path, &facts)
        let share = Double(facts.st_size) / Double(settings.byteCount!)
        #expect(share < 1.015 && share > (audio == "aac" ? 0.7 : 0.98), "\(facts.st_size) bytes of \(settings.byteCount!)")
        settings.byteCount = 1000
        let other = scratch.path("a.\(ending)")
        let error = #expect(throws: ExportError.self) { _ = try ExportSession(from: TestAssets.demo, to: other, settings: settings) }
        #expect(error?.description.hasPrefix("1000 bytes are too few for ") == true)
        settings.videoQuality = 0.5
        #expect(throws: ExportError.self) { _ = try ExportSession(from: TestAssets.demo, to: scratch.path("a.mp4"), settings: settings) }
        #expect(scratch.names == ["film.\(ending)"])
    }

    @Test(arguments: [QualityTarget(.psnr, 38), QualityTarget(.ssim, 0.96)])
    func `a quality is reached by FFmpeg's measure, in every scene`(target: QualityTarget) throws {
        let scratch = Scratch(), source = scratch.path("scenes.mkv"), path = scratch.path("film.mkv")
        try #require(unsafe system("\(Self.scenes) '\(source)'") == 0)
        var settings = try ExportTests.settings("libx264:preset=ultrafast,g=50,keyint_min=50,sc_threshold=0")
        settings.passes = MultiPassOptions(target: .quality(target), maximumPassCount: 8)
        let session = try ExportSession(from: source, to: path, settings: settings)
        try session.run()
        for second in [0, 2] {
            let parts = ["a.mkv", "b.mkv"].map { scratch.path($0) }
            for (film, part) in zip([path, source], parts) {
                try #require(unsafe system("ffmpeg -nostdin -y -v quiet -i '\(film)' -ss \(second) -t 2 -c:v ffv1 -g 1 '\(part)'") == 0)
            }
            let measured = try #require(Self.measure(target.measure.rawValue, parts[0], parts[1]))
            #expect(abs(measured - target.value) < target.tolerance * 1.05, "\(measured) from second \(second); \(session.notices)")
        }
        #expect(Probe.frames(path).count == 100)
    }

    @Test func `an end on request leaves what the passes have made, or nothing where they only gathered statistics`() throws {
        let scratch = Scratch()
        var settings = try ExportTests.settings("libx264:preset=ultrafast", audio: "aac")
        settings.writer.overwrites = true
        settings.videoBitRate = 300_000
        settings.passes = MultiPassOptions()
        func frames(_ endPass: Int, after count: Int) throws -> Int {
            let path = scratch.path("pass-\(endPass).mp4")
            var isEnded = false
            let session = try ExportSession(from: TestAssets.demo, to: path, settings: settings)
            try session.run(isEnded: { isEnded }, { if $0.pass == endPass, $0.sampleCount == count { isEnded = true } })
            return Probe.frames(path).count
        }
        #expect(throws: ExportError.cancelled) { _ = try frames(1, after: 50) }
        #expect(try frames(2, after: 60) == 60)
        let sound = Probe.lines("ffprobe -v quiet -select_streams a:0 -show_entries stream=duration -of csv=p=0 '\(scratch.path("pass-2.mp4"))'")
        #expect(Double(sound.first ?? "").map { abs($0 - 2) < 0.2 } == true, "\(sound)")
        settings.videoBitRate = nil
        settings.passes = MultiPassOptions(target: .quality(QualityTarget(.psnr, 44)), maximumPassCount: 4)
        #expect(try frames(2, after: 10) == 300, "the first pass has made a whole film")
        #expect(scratch.names == ["pass-2.mp4"])
    }

    @Test func `a writer's input takes frames in passes, beside one that takes samples`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let reader = try AssetReader(url: TestAssets.demo)
        guard case .video(let format) = reader.tracks[0].format else { return }
        var wanted = TrackDescription(reader.tracks[0])
        wanted.format = .video(format)
        var options = EncoderOptions(encoderOptions: ["preset": "ultrafast"])
        options.properties.averageBitRate = 300_000
        let writer = try AssetWriter(path: path)
        let video = try writer.addVideoInput(wanted, options: options, performsMultiPassEncodingIfSupported: true)
        let sound = try writer.addInput(TrackDescription(reader.tracks[1]))
        #expect(video.canPerformMultiplePasses)
        try writer.start()
        let output = try VideoTrackOutput(url: TestAssets.demo)
        var passes: [Int] = []
        while let pass = video.currentPassDescription {
            passes.append(pass.number)
            if pass.number > 1 { try output.reset(forReadingTimeRanges: [MediaTimeRange(start: .zero, end: .positiveInfinity)]) }
            while let frame = try output.nextFrame() { try video.append(frame) }
            try video.markCurrentPassAsFinished()
        }
        reader.select([1])
        while let sample = try reader.nextSample() { try sound.append(sample) }
        sound.markAsFinished()
        try writer.finish()
        #expect(passes == [1, 2] && Probe.frames(path).count == 300)
        // The writer takes frames as it needs them beside the sound: both lie in the file side by side.
        let order = Probe.lines("ffprobe -v quiet -show_entries packet=stream_index -of csv=p=0 '\(path)'").map { $0.prefix(1) }
        #expect(Set(order.prefix(100)).count == 2 && Set(order.suffix(100)).count == 2, "interleaved")
        #expect(Probe.hashes(path)[1] == Probe.hashes(TestAssets.demo)[1])
    }

    @Test func `passes are asked for one after the other on a queue, and an encoder that makes one takes frames at once`() async throws {
        let scratch = Scratch(), path = scratch.path("film.mkv")
        let size = PixelSize(width: 640, height: 360)
        func track(_ codec: VideoCodec) -> TrackDescription {
            TrackDescription(format: .video(VideoFormat(codec: codec, codedSize: size, frameRate: Ratio(30, 1))))
        }
        var options = EncoderOptions(encoderOptions: ["preset": "ultrafast"])
        options.properties.averageBitRate = 300_000
        let writer = try AssetWriter(path: path)
        let video = try writer.addVideoInput(track(.h264), options: options, performsMultiPassEncodingIfSupported: true)
        let plain = try writer.addVideoInput(track(VideoCodec(name: "ffv1")), performsMultiPassEncodingIfSupported: true)
        #expect(!plain.canPerformMultiplePasses && plain.currentPassDescription == nil)
        try writer.start()
        let numbers = Monitor<[Int]>([])
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            video.respondToEachPassDescription(on: .global()) { pass in
                numbers.withLock { $0.append(pass.number) }
                let output = try VideoTrackOutput(url: TestAssets.demo)
                while let frame = try output.nextFrame(), frame.presentationTime < MediaTime(value: 1, timescale: 1) { try video.append(frame) }
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(failure == nil && numbers.withLock { $0 } == [1, 2])
        let output = try VideoTrackOutput(url: TestAssets.demo)
        while let frame = try output.nextFrame(), frame.presentationTime < MediaTime(value: 1, timescale: 1) { try plain.append(frame) }
        try plain.markAsFinished()
        try writer.finish()
        #expect(Probe.frames(path).count == 30)
        #expect(Probe.lines("ffprobe -v quiet -select_streams v:1 -count_frames -show_entries stream=nb_read_frames -of csv=p=0 '\(path)'") == ["30"])
    }
}
