import Decoding
import Demuxing
import DisplaySink
import Media
import Player
import SampleQueue
import TestSupport
import Testing

@Suite struct DisplayQueueTests {
    private func film() throws -> [SampleBuffer] {
        let reader = try AssetReader(url: TestAssets.demo)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < 30, let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }

    private func wait(_ condition: () -> Bool) -> Bool {
        let limit = MonotonicClock.shared.now() + .seconds(60), pause = Monitor(0)
        while !condition() {
            if MonotonicClock.shared.now() > limit { return false }
            let _: Void? = pause.wait(until: MonotonicClock.shared.now() + .milliseconds(2)) { _ in nil }
        }
        return true
    }

    @Test func `what nobody can decode fails the queue, and a flush makes it go on`() throws {
        let display = DisplayQueue(sink: HeadlessSink(isUntimed: true)), samples = try film()
        try display.start()
        defer { display.stop() }
        var unknown = samples[0]
        guard case .compressed(let bytes, _) = unknown.content else { return #expect(Bool(false), "not a compressed sample") }
        unknown.content = .compressed(bytes, .video(VideoFormat(codec: VideoCodec(name: "nonesuch"), codedSize: PixelSize(width: 64, height: 64))))
        display.samples.enqueue(unknown)
        #expect(wait { display.samples.status == .failed })
        #expect(display.samples.requiresFlushToResumeDecoding && display.samples.error?.contains("nonesuch") == true)
        // Meanwhile nothing is decoded.
        for sample in samples { display.samples.enqueue(sample) }
        #expect(wait { display.samples.count == 0 })
        #expect(display.presentationStatistics.framesPresented == 0)

        display.flush()
        #expect(!display.samples.requiresFlushToResumeDecoding && display.samples.error == nil)
        for sample in samples { display.samples.enqueue(sample) }
        display.samples.enqueue(SampleBuffer(marker: .endOfStream))
        #expect(wait { display.presentationStatistics.framesPresented == samples.count })
        #expect(display.samples.status == .rendering)
    }

    @Test func `a control timebase set on the queue of samples decides when frames are shown`() throws {
        let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000))
        let display = DisplayQueue(sink: HeadlessSink(), timebase: Timebase(clock: clock))
        try display.start()
        defer { display.stop() }
        for sample in try film() { display.samples.enqueue(sample) }
        display.samples.enqueue(SampleBuffer(marker: .endOfStream))
        // The first frame is shown whatever the time is; the hand-driven clock stands.
        #expect(wait { display.presentationStatistics.framesPresented == 1 })
        let running = Timebase()
        running.setRate(1, time: .zero, atHostTime: MonotonicClock.shared.now())
        display.samples.controlTimebase = running
        #expect(display.timebase === running)
        #expect(wait { display.presentationStatistics.framesPresented + display.presentationStatistics.droppedTotal == 30 })
    }
}
