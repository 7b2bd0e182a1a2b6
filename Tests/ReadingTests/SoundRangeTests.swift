import Foundation
import Media
import Reading
import Sandbox
import TestSupport
import Testing

/// Ranges of sound against all of it.
@Suite struct SoundRangeTests {
    private static func all(_ path: String) throws -> [SoundBuffer] { try AudioTrackOutput(url: path).remaining() }

    /// Whether decoding from the middle gives the same bits: not where the codec makes noise or keeps a state.
    static let films: [(String, isExact: Bool)] =
        [(TestAssets.path("audio-only.flac"), true), (TestAssets.path("audio-only.m4a"), false), (TestAssets.demo, false)]
        + (MediaCatalog.shared.map { catalog in
            var count: [String: Int] = [:]
            return catalog.sweep.filter { film in
                guard film.group == "mkv-webm" || film.group == "mp4" || film.group == "ts-ps", film.frameMD5 != nil else { return false }
                guard (try? AudioTrackOutput(url: catalog.path(film.path))) != nil else { return false }
                count[film.group, default: 0] += 1
                return count[film.group]! <= 4
            }.map { (catalog.path($0.path), false) }
        } ?? [])

    @Test("a random range begins and ends at the right frame of sound", .unsanitized, arguments: films)
    func randomRanges(_ path: String, _ isExact: Bool) throws {
        let all = try Self.all(path)
        let first = try #require(all.first, "\(path)"), last = all[all.count - 1]
        let end = last.position + Int64(last.frameCount), rate = first.sampleRate, channels = first.channelCount
        let whole = all.flatMap(\.samples)
        #expect(Int64(whole.count / channels) == end - first.position, "\(path): the sound has a gap")
        let output = try AudioTrackOutput(url: path)
        var dice = Dice(seed: 3)
        for _ in 0..<TestExtent.rounds(4, full: 40, sanitized: 2) {
            let start = Int64.random(in: max(first.position, 0)..<end, using: &dice), stop = min(start + 3000, end)
            try output.reset(forReadingTimeRanges: [
                MediaTimeRange(start: MediaTime(value: start, timescale: rate), end: MediaTime(value: stop, timescale: rate))
            ])
            let part = try output.remaining()
            let count = part.reduce(0) { $0 + Int64($1.frameCount) }
            #expect(part.first?.position == start && count == stop - start, "\(path) \(start)..<\(stop): \(count)")
            let samples = part.flatMap(\.samples), offset = Int(start - first.position) * channels
            guard samples.count == Int(stop - start) * channels else { continue }
            let expected = Array(whole[offset..<offset + samples.count])
            if isExact { #expect(samples == expected, "\(path) \(start)") }
            #expect(Self.difference(samples, expected) < 0.02, "\(path) \(start): the sound is another")
        }
    }

    /// The root mean square of the difference.
    private static func difference(_ a: [Float], _ b: [Float]) -> Float {
        var sum: Float = 0
        for index in a.indices { sum += (a[index] - b[index]) * (a[index] - b[index]) }
        return a.isEmpty ? 0 : (sum / Float(a.count)).squareRoot()
    }

    @Test func `the rate and the channels may be chosen`() throws {
        let output = try AudioTrackOutput(url: TestAssets.demo, sampleRate: 8000, channelCount: 1)
        let sound = try output.remaining()
        #expect(sound.allSatisfy { $0.sampleRate == 8000 && $0.channelCount == 1 })
        let frames = sound.reduce(0) { $0 + $1.frameCount }
        #expect(abs(frames - 80_000) < 1000, "\(frames) frames of ten seconds")
    }

    @Test func `several ranges, through a process without rights, in an asynchronous loop`() async throws {
        let options = ReadingOptions(sandbox: SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder))
        let output = try AudioTrackOutput(url: TestAssets.demo, options: options)
        let ranges = [1, 0].map { MediaTimeRange(start: MediaTime(value: $0, timescale: 1), duration: MediaTime(value: 1, timescale: 4)) }
        try output.reset(forReadingTimeRanges: ranges)
        var frames: [Int64: Int] = [:], rate = 0
        for try await buffer in output.buffers {
            rate = Int(buffer.sampleRate)
            frames[buffer.position / Int64(rate), default: 0] += buffer.frameCount
        }
        #expect(frames == [0: rate / 4, 1: rate / 4])
    }

    @Test(arguments: [SandboxPolicy.off, .full])
    func `sound behind an edit list begins with FFmpeg's first sample, decoded from what is hidden`(policy: SandboxPolicy) throws {
        let options = ReadingOptions(sandbox: SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder))
        let path = TestAssets.path("edit-list.mp4"), found = try AudioTrackOutput(url: path, options: options).remaining()
        let bytes = try FFmpeg.run(["-i", path, "-map", "0:a:0", "-f", "f32le", "-"])
        let theirs = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        let samples = found.flatMap(\.samples)
        // Some versions of FFmpeg put out the whole of the last packet.
        let channels = found.first?.channelCount ?? 0
        #expect(found.first?.position == 0 && samples.count > 4096 && theirs.count - samples.count < 1024 * channels)
        #expect(samples == Array(theirs.prefix(samples.count)))
    }

    @Test func `a cancelled output throws`() throws {
        let output = try AudioTrackOutput(url: TestAssets.demo)
        output.cancel()
        #expect(throws: ReadingError.self) { try output.nextBuffer() }
        let silent = #expect(throws: ReadingError.self) { try AudioTrackOutput(url: TestAssets.path("vp9.webm")) }
        #expect(silent?.code == .noTrack)
    }
}

extension AudioTrackOutput {
    /// What is still to be read.
    func remaining() throws -> [SoundBuffer] {
        var buffers: [SoundBuffer] = []
        while let buffer = try nextBuffer() { buffers.append(buffer) }
        return buffers
    }
}
