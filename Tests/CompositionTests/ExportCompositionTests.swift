import Composition
import Media
import Reading
import SurfacePool
import TestSupport
import Testing
import Writing

/// A composition that is written to a file is, frame by frame, what floating-point arithmetic makes of its films.
@Suite struct ExportCompositionTests {
    typealias Times = CompositionReadingTests

    /// An empty file that goes with the test.
    static func settings(_ video: String, _ audio: String) throws -> ExportSettings {
        var settings = ExportSettings()
        settings.video = .encode(try ExportSettings.Codec(videoText: video))
        settings.audio = .encode(try ExportSettings.Codec(audioText: audio))
        settings.writer.overwrites = true
        return settings
    }

    @Test func `cuts and dissolves, frame by frame, and sound to the sample`() throws {
        let cutCount = TestExtent.rounds(12, full: 40, sanitized: 6)
        let films = try (0..<3).map { try TestFilm(seed: 50 + UInt64($0), frames: 20, hasSound: true) }
        let target = try TestFilm(seed: 60, frames: 1)
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed), film = Composition(), instructions: [any VideoCompositionInstructing] = []
        let (a, b, sound) = (film.addTrack(.video), film.addTrack(.video), film.addTrack(.sound))
        /// The films and the numbers of the frames that each frame shows, and the weight of the second.
        var wanted: [(old: (Int, Int), new: (Int, Int)?, share: Double)] = []
        var end = 0, wantedSound: [Float] = []
        for cut in 0..<cutCount {
            // A dissolve that lasts for one frame mixes nothing.
            let isDissolve = cut % 4 == 1, length = Int.random(in: (isDissolve ? 3 : 1)...6, using: &dice)
            let (one, two) = (cut % 3, (cut + 1) % 3)
            let from = Int.random(in: 0...(19 - length), using: &dice), other = Int.random(in: 0...(19 - length), using: &dice)
            let range = Times.range(end * 40, (end + length) * 40)
            try film.insert(Times.range(from * 40, (from + length) * 40), of: films[one].source, into: a, at: range.start)
            if isDissolve {
                try film.insert(Times.range(other * 40, (other + length) * 40), of: films[two].source, into: b, at: range.start)
                instructions.append(VideoCompositionInstruction.crossDissolve(from: a, to: b, in: range))
            } else {
                instructions.append(VideoCompositionInstruction(timeRange: range, layers: [VideoCompositionLayer(track: a)]))
            }
            try film.insert(Times.range(other * 40, (other + length) * 40), of: films[two].source, into: sound, at: range.start)
            for number in 0..<length {
                wanted.append(((one, from + number), isDissolve ? (two, other + number) : nil, Double(number) / Double(length)))
            }
            wantedSound += films[two].sound[other * 3840..<(other + length) * 3840].map { Float($0) / 32768 }
            end += length
        }
        let video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: Drawing.size, instructions: instructions)
        let session = try ExportSession(from: film, video, to: target.path, settings: Self.settings("ffv1", "pcm_s16le"))
        try session.run()
        #expect(session.notices.isEmpty && session.statistics.bytesCopied == 0, "\(session.notices)")
        let output = try VideoTrackOutput(url: target.path)
        var count = 0, worst = 0.0
        while let frame = try output.nextFrame() {
            guard count < wanted.count else { break }
            let now = wanted[count], old = FloatFrame(Drawing.size, films[now.old.0].frames[now.old.1])
            let expected =
                now.new.map { FloatFrame(Drawing.size, films[$0.0].frames[$0.1]).under(old, opacity: 1 - now.share) } ?? old
            let difference = expected.difference(FrameBytes(frame))
            #expect(difference <= (now.new == nil ? 0 : 1), "seed \(seed), frame \(count)")
            #expect(frame.presentationTime == Times.time(40 * count), "seed \(seed), frame \(count)")
            worst = max(worst, difference)
            count += 1
        }
        #expect(count == wanted.count && worst > 0, "seed \(seed): \(count) of \(wanted.count) frames")
        let reader = try AudioTrackOutput(url: target.path)
        var found: [Float] = []
        while let buffer = try reader.nextBuffer() { found += buffer.samples }
        #expect(found == wantedSound, "seed \(seed): \(found.count) of \(wantedSound.count) values")
    }

    @Test func `a part with a mix, its chapters, and what cannot be made`() throws {
        let (a, target) = (try TestFilm(seed: 70, frames: 20, hasSound: true), try TestFilm(seed: 71, frames: 1))
        var film = Composition()
        let (track, sound) = (film.addTrack(.video), film.addTrack(.sound))
        try film.insert(Times.range(0, 800), of: a.source, into: track, at: .zero)
        try film.insert(Times.range(0, 800), of: a.source, into: sound, at: .zero)
        film.markers = [CompositionMarker(time: .zero, name: "One"), CompositionMarker(time: Times.time(400), name: "Two")]
        let video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Drawing.size)
        var settings = try Self.settings("ffv1", "pcm_s16le")
        settings.timeRange = Times.range(200, 400)
        let session = try ExportSession(from: film, video, audioMix: AudioMix(volumes: [sound: Ramped(0.5)]), to: target.path, settings: settings)
        try session.run()
        let output = try VideoTrackOutput(url: target.path)
        var count = 0
        while let frame = try output.nextFrame() {
            #expect(FrameBytes(frame).bytes == a.frames[5 + count])
            count += 1
        }
        #expect(count == 5 && session.statistics.bytesCopied == 0)
        let reader = try AudioTrackOutput(url: target.path)
        let first = try #require(try reader.nextBuffer())
        #expect(abs(first.samples[0] - Float(a.sound[200 * 96]) / 65536) < 1 / 32768)
        settings.video = .copy
        let error = #expect(throws: ExportError.self) { _ = try ExportSession(from: film, video, to: target.path, settings: settings) }
        #expect(error?.description == "the composition: what is composed can only be encoded, not copied.")
        settings.video = .usual
        #expect(throws: ExportError.self) {
            _ = try ExportSession(
                from: film, VideoComposition(frameDuration: .zero, renderSize: Drawing.size), to: target.path, settings: settings)
        }
    }
}
