import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// What a session put out.
final class FilmLog: Sendable {
    private struct State: Sendable {
        var hashes: [String] = []
        var sizes: [PixelSize] = []
        var drops: [DropReason] = []
        var errors: [DecodingError] = []
    }

    private let state = Monitor(State())

    func receive(_ output: consuming DecodeOutput) {
        switch consume output {
        case .frame(let frame):
            let hash = FrameBytes(frame).md5, size = frame.visible.size
            state.withLock { state in
                state.hashes.append(hash)
                if state.sizes.last != size { state.sizes.append(size) }
            }
        case .dropped(_, let reason): state.withLock { $0.drops.append(reason) }
        case .failed(_, let error): state.withLock { $0.errors.append(error) }
        }
    }

    var hashes: [String] { state.withLock { $0.hashes } }
    /// In their order, each once in a row.
    var sizes: [PixelSize] { state.withLock { $0.sizes } }
    var drops: [DropReason] { state.withLock { $0.drops } }
    var errors: [DecodingError] { state.withLock { $0.errors } }
}

@Suite("changes of format", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct FormatChangeTests {
    static func log(_ samples: [SampleBuffer], _ session: any DecodingSession) throws -> FilmLog {
        let log = FilmLog()
        for sample in samples { try session.decode(sample) { log.receive($0) } }
        session.finishDelayedFrames { log.receive($0) }
        return log
    }

    private static func sessions(_ format: VideoFormat) throws -> [any DecodingSession] {
        let options = DecoderOptions(threads: 2)
        return [
            try DecompressionSession(format: format, options: options),
            try SandboxedSession(format: format, options: options, sandbox: SandboxedSessionTests.options()),
        ]
    }

    /// Films whose frames change their size, as their checksums tell.
    private static let changing: [MediaCatalog.Film] = (MediaCatalog.shared?.films ?? []).filter { film in
        guard film.group != "malformed", let name = film.frameMD5, let path = MediaCatalog.shared?.path(name) else { return false }
        return Set(FrameMD5File(path: path)?.lines.map(\.byteCount) ?? []).count > 1
    }

    @Test("a film that changes its size goes through one session, frame by frame as FFmpeg's")
    func withinTheStream() throws {
        let catalog = try #require(MediaCatalog.shared)
        #expect(Self.changing.count >= 5)
        for film in Self.changing.prefix(TestExtent.rounds(.max, full: .max, sanitized: 2)) {
            let reference = try #require(FrameMD5File(path: catalog.path(film.frameMD5!)))
            let (format, samples) = try SandboxedSessionTests.film(catalog.path(film.path))
            for session in try Self.sessions(format) {
                for case .compressed(_, .video(let other)) in samples.map(\.content) { #expect(session.canAccept(other)) }
                let log = try Self.log(samples, session)
                #expect(log.hashes == reference.lines.map(\.hash), "\(film)")
                #expect(log.sizes.count > 1 && log.errors == [], "\(film)")
                #expect(log.hashes.count + log.drops.count == samples.count, "\(film)")
                #expect(session.poolStatistics.generation > 0, "\(film)")
            }
        }
    }

    /// Two films in turns, as a container would say it that changes its sample descriptions.
    @Test(
        "films of one codec go through one session one after the other",
        arguments: TestExtent.cases(
            [
                ("assets/demo.mp4", "mp4/androidx/bbb_800x640_768kbps_30fps_avc_pyramid_3b.mp4"), ("assets/demo.mp4", "h264-jvt/jvt/MIDR_MW_D.264"),
                ("hevc/androidx/fragmented_captions_h265.mp4", "hevc/androidx/h265_bframes.mp4"),
                ("hevc/hevc.js/full_qcif_10f_10bit.265", "hevc/androidx/fragmented_captions_h265.mp4"),
                ("vp9/cros-codecs/resolution_change_500frames-vp9.ivf", "av1"),
            ], sanitizedStep: 3))
    func saidByTheContainer(first: String, second: String) throws {
        let catalog = try #require(MediaCatalog.shared)
        func film(_ name: String) throws -> (format: VideoFormat, samples: [SampleBuffer]) {
            let film = try SandboxedSessionTests.film(name.hasPrefix("assets/") ? TestAssets.demo : catalog.path(name))
            return (film.format, Array(film.samples.prefix(90)))
        }
        let a = try film(first)
        if second == "av1" {
            let other = try #require(catalog.films.first { $0.codec == "av1" })
            for session in try Self.sessions(a.format) { #expect(!session.canAccept(try film(other.path).format), "another codec") }
            return
        }
        let b = try film(second)
        #expect(a.format.configuration != b.format.configuration)
        let alone = try [a, b].map { try Self.log($0.samples, DecompressionSession(format: $0.format, options: DecoderOptions(threads: 2))) }
        let expected = alone[0].hashes + alone[1].hashes + alone[0].hashes
        for session in try Self.sessions(a.format) {
            #expect(session.canAccept(b.format))
            let log = try Self.log(a.samples + b.samples + a.samples, session)
            #expect(log.hashes == expected && log.errors == [])
            #expect(log.hashes.count + log.drops.count == 2 * a.samples.count + b.samples.count)
            #expect(log.sizes == alone[0].sizes + alone[1].sizes + alone[0].sizes)
        }
        let log = FilmLog()
        let decoder = AsynchronousDecoder(try DecompressionSession(format: a.format, options: DecoderOptions(threads: 2))) { log.receive($0) }
        for sample in a.samples + b.samples + a.samples { try decoder.decode(sample) }
        decoder.waitForAsynchronousFrames()
        #expect(log.hashes == expected)
    }

    @Test("set-up data that makes no sense fails its samples; the film goes on with the next that does")
    func nonsense() throws {
        let film = try SandboxedSessionTests.film()
        let samples = Array(film.samples.prefix(40))
        var broken = film.format
        broken.configuration = [1, 2, 3]
        let damaged = samples.map { sample -> SampleBuffer in
            guard case .compressed(let block, _) = sample.content else { return sample }
            var copy = sample
            copy.content = .compressed(block, .video(broken))
            return copy
        }
        let alone = try Self.log(samples, DecompressionSession(format: film.format, options: DecoderOptions(threads: 2)))
        for session in try Self.sessions(film.format) {
            let log = try Self.log(samples + Array(damaged.prefix(5)) + samples, session)
            #expect(log.hashes == alone.hashes + alone.hashes)
            #expect(log.errors.count + log.drops.count == 5)
            #expect(!log.errors.isEmpty && (session as? SandboxedSession)?.statistics.deaths ?? 0 == 0)
        }
    }

    @Test("a size change retires the surfaces of the old size, and those in use stay as they are")
    func generations() throws {
        let catalog = try #require(MediaCatalog.shared)
        let a = try SandboxedSessionTests.film(), b = try SandboxedSessionTests.film(catalog.path("mp4/wpt/400x300-red-resize-200x150-green.mp4"))
        let session = try DecompressionSession(format: a.format, options: DecoderOptions(threads: 1, holdCount: 2))
        var held: (box: SharedFrame, md5: String)?
        for sample in a.samples.prefix(20) {
            try session.decode(sample) { output in
                guard case .frame(let frame) = output else { return }
                let box = SharedFrame(frame)
                held = (box, FrameBytes(box.copy()).md5)
            }
        }
        let before = session.poolStatistics.generation
        for sample in b.samples.prefix(60) { try session.decode(sample) { _ in } }
        session.finishDelayedFrames { _ in }
        let kept = try #require(held)
        #expect(session.poolStatistics.generation > before && session.format == b.format)
        #expect(FrameBytes(kept.box.copy()).md5 == kept.md5)
    }
}
