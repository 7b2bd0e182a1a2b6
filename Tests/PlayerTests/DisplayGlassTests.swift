import Demuxing
import DisplaySink
import Foundation
import Media
import Player
import SampleQueue
import TestSupport
import Testing
import WaylandSink

/// What a display queue's samples look like on the display, frame by frame.
@Suite(.serialized) struct DisplayGlassTests {
    private func film(_ count: Int) throws -> [SampleBuffer] {
        let reader = try AssetReader(url: TestAssets.demo)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < count, let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }

    private func enqueue(_ samples: [SampleBuffer], into display: DisplayQueue) {
        for sample in samples { display.samples.enqueue(sample) }
        display.samples.enqueue(SampleBuffer(marker: .endOfStream))
    }

    @Test(arguments: [0, 1000.0]) func `whoever only enqueues sees a film, from its first frame on and at its pace`(_ beginning: Double) throws {
        let sink = WatchingSink(), finished = Monitor(false)
        let display = DisplayQueue(sink: sink) { event in if case .finished = event { finished.change { $0 = true } } }
        try display.start()
        defer { display.stop() }
        let samples = try film(60).map { sample in
            var sample = sample
            sample.presentationTime += MediaTime(seconds: beginning)
            sample.decodeTime += MediaTime(seconds: beginning)
            return sample
        }
        enqueue(samples, into: display)
        #expect(finished.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil } == true)
        let seen = sink.sightings, numbers = seen.map(\.number)
        #expect(numbers.first == 0 && numbers.last == 59 && numbers == numbers.sorted())
        #expect(seen.count + display.presentationStatistics.droppedTotal == 60)
        // A busy machine may show frames late, never early: 59 frames at 30 Hz, less one refresh.
        let span = try #require(seen.last).time - (try #require(seen.first)).time
        #expect(span.seconds > 59.0 / 30 - 0.02, "\(span.seconds)")
    }

    @Test func `samples in host time are shown at that moment`() throws {
        let sink = WatchingSink()
        let display = DisplayQueue(sink: sink)
        try display.start()
        defer { display.stop() }
        let begin = MonotonicClock.shared.now() + .seconds(1)
        enqueue(
            try film(30).map { sample in
                var sample = sample
                sample.presentationTime += MediaTime(nanoseconds: begin.nanoseconds)
                sample.decodeTime = .invalid
                return sample
            }, into: display)
        #expect(sink.wait { $0.number == 29 })
        // The first frame needs no clock; the others come at their times, the nearest refresh counts.
        for sighting in sink.sightings where sighting.number > 0 {
            let time = begin + .seconds(Double(sighting.number) / 30)
            #expect((sighting.time - time).seconds > -0.02, "frame \(sighting.number)")
        }
    }

    /// The demo's sync frames, flagged, one after the other, while time stands at zero.
    private func showImmediately(_ display: DisplayQueue, isOnGlass: (Int) throws -> Bool) throws {
        try display.start()
        defer { display.stop() }
        let samples = try film(300).enumerated().filter { $1.flags.contains(.sync) }
        try #require(samples.map(\.offset) == [0, 60, 120, 180, 240])
        for (number, sample) in samples {
            var sample = sample
            sample.flags.insert(.displayImmediately)
            display.samples.enqueue(sample)
            // Makes the decoder put out what it holds back.
            display.samples.enqueue(SampleBuffer(marker: .drain))
            #expect(try isOnGlass(number), "frame \(number)")
        }
        #expect(display.timebase.time == .zero)
    }

    @Test func `a sample to be displayed immediately is on the display although time stands`() throws {
        let sink = WatchingSink()
        try showImmediately(DisplayQueue(sink: sink, timebase: Timebase())) { number in sink.wait { $0.number == number } }
    }

    @Test func `a sample to be displayed immediately is on the screen of a compositor although time stands`() throws {
        let weston = try PrivateWeston(.pixman, isBare: true)
        let sink = try WaylandSink(display: weston.display)
        try showImmediately(DisplayQueue(sink: sink, timebase: Timebase())) { number in
            let limit = MonotonicClock.shared.now() + .seconds(60)
            while MonotonicClock.shared.now() < limit {
                let shot = try weston.screenshot()
                if let part = shot.bounds(), FrameCode(shot, in: part)?.number == number { return true }
            }
            return false
        }
    }
}
