import Decoding
import Demuxing
import DisplaySink
import Media
import PixelConversion
import Player
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// A display of 60 Hz on a clock driven by hand: what it shows, by checksum.
private final class HashingSink: DisplaySink {
    private struct State: Sendable {
        var hashes: [String] = []
        var drops = 0
        var removals = 0
        var isFinished = false
        var queue: PresentationQueue?
    }

    let name = "hashing"
    let pacing = Pacing.display
    let surfaceHoldCount = 1
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    var conversion: ConversionReport? { nil }
    private let state = Monitor(State())

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        state.withLock { $0.queue = queue }
    }

    func stop() { state.withLock { $0.queue = nil } }

    /// One refresh.
    func refresh(at time: HostTime, period: HostSpan) {
        guard let queue = state.withLock({ $0.queue }) else { return }
        switch queue.next(for: DisplayInterval(deadline: time, nextDeadline: time + period)) {
        case .show(let frame, _):
            let hash = FrameBytes(frame).md5
            state.withLock { $0.hashes.append(hash) }
            queue.didPresent(sequence: frame.sequence, at: time)
        case .finished: state.withLock { $0.isFinished = true }
        case .keep: break
        case .removeImage: state.withLock { $0.removals += 1 }
        }
    }

    var hashes: [String] { state.withLock { $0.hashes } }
    var removals: Int { state.withLock { $0.removals } }
    var isFinished: Bool { state.withLock { $0.isFinished } }
}

@Suite("changes of format on a display", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct FormatChangeTests {
    private struct Part {
        var samples: [SampleBuffer]
        var hashes: [String] = []
    }

    /// The first samples of a film, from its first sync sample, with times from `start` on; and its frames decoded alone.
    private static func part(_ path: String, _ count: Int, from start: MediaTime) throws -> (Part, end: MediaTime) {
        let reader = try AssetReader(url: path)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format else { return (Part(samples: []), start) }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < count, let sample = try reader.nextSample() { samples.append(sample) }
        let session = try DecompressionSession(format: format, options: DecoderOptions(threads: 1))
        var hashes: [String] = [], times: [MediaTime] = []
        func receive(_ output: consuming DecodeOutput) {
            guard case .frame(let frame) = output else { return }
            hashes.append(FrameBytes(frame).md5)
            times.append(frame.presentationTime)
        }
        for sample in samples { try session.decode(sample) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        let shift = start - (times.min() ?? .zero)
        for index in samples.indices {
            samples[index].presentationTime = samples[index].presentationTime + shift
            samples[index].decodeTime = samples[index].decodeTime + shift
            samples[index].sourcePresentationTimestamp = nil
            samples[index].sourceDecodeTimestamp = nil
            samples[index].sourceTimeBase = Ratio(1, 90_000)
        }
        let end = (times.max() ?? .zero) + shift + MediaTime(value: 1, timescale: 25)
        return (Part(samples: samples, hashes: hashes), end)
    }

    /// H.264, HEVC and H.264 of another size, one after the other as in one stream.
    @Test("H.264, HEVC and another H.264 follow each other without a frame missing, twice or black", arguments: [SandboxPolicy.off, .decoder])
    func spliced(policy: SandboxPolicy) throws {
        let catalog = try #require(MediaCatalog.shared)
        var parts: [Part] = [], end = MediaTime.zero
        for (path, count) in [
            (TestAssets.demo, 40), (catalog.path("hevc/androidx/fragmented_captions_h265.mp4"), 61),
            (catalog.path("mp4/androidx/bbb_800x640_768kbps_30fps_avc_pyramid_3b.mp4"), 40), (TestAssets.demo, 20),
        ] {
            let (part, next) = try Self.part(path, count, from: end)
            parts.append(part)
            end = next
        }
        let expected = parts.flatMap(\.hashes)
        #expect(expected.count > 150)

        let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000)), timebase = Timebase(clock: clock), sink = HashingSink()
        let problems = Monitor([String]())
        let display = DisplayQueue(
            sink: sink, options: DecoderOptions(threads: 2), sandbox: SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder),
            timebase: timebase
        ) { event in
            switch event {
            case .decodeError(let error), .failed(let error): problems.withLock { $0.append(error.description) }
            default: break
            }
        }
        try display.start()
        for part in parts { for sample in part.samples { display.samples.enqueue(sample) } }
        display.samples.enqueue(SampleBuffer(marker: .endOfStream))
        timebase.setRate(1, time: .zero, atHostTime: clock.now())
        // The clock waits for the decoder, which is what a fast enough machine looks like; 120 Hz, so that the cadence skips no frame.
        let period = HostSpan.nanoseconds(8_333_333), limit = MonotonicClock.shared.now() + .seconds(120)
        let pause = Monitor(0)
        while !sink.isFinished, MonotonicClock.shared.now() < limit {
            let decoded = display.decoderReport?.framesDecoded ?? 0, shown = display.presentationStatistics.framesPresented
            if decoded < min(shown + 2, expected.count) {
                let _: Void? = pause.wait(until: MonotonicClock.shared.now() + .milliseconds(1)) { _ in nil }
                continue
            }
            sink.refresh(at: clock.now(), period: period)
            clock.advance(by: period)
        }
        let statistics = display.presentationStatistics, report = display.decoderReport
        display.stop()
        #expect(problems.withLock { $0 } == [])
        #expect(sink.isFinished && sink.hashes == expected)
        #expect(sink.removals == 0 && statistics.droppedTotal == 0 && statistics.framesPresented == expected.count)
        #expect(report?.errors == 0)
    }
}
