import Demuxing
import DisplaySink
import FrameExport
import Media
import Player
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Images and markers among compressed samples, with a real decoder.
@Suite struct MarkerTests {
    /// A frame that came out of a display queue.
    private struct Seen: Hashable {
        var time: MediaTime
        var duration: MediaTime
        var hash: String
    }

    private func film() throws -> [SampleBuffer] {
        let reader = try AssetReader(url: TestAssets.path("plain.mp4"))
        reader.select(Set(reader.tracks.filter { $0.kind == .video }.map(\.id)))
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }

    /// What a display queue puts out of `samples`, in its order; `check` looks at the queue then.
    private func seen(
        _ samples: [SampleBuffer], onMarker: (@Sendable (SampleBuffer, Int) -> Void)? = nil, check: (DisplayQueue) -> Void = { _ in }
    ) throws -> [Seen] {
        let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait, delivery: .whenDecoded))
        let display = DisplayQueue(sink: HeadlessSink(isUntimed: true), exporters: [exporter])
        display.onMarker { onMarker?($0, exporter.statistics.offered) }
        try display.start()
        defer { display.stop() }
        display.samples.enqueue(contentsOf: samples + [SampleBuffer(marker: .endOfStream)])
        var frames: [Seen] = []
        while let frame = exporter.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
            let facts = frame.description
            let hash = unsafe frame.withUnsafeBytes { unsafe FrameBytes(layout: facts.layout, visible: facts.visible, memory: $0).md5 }
            frames.append(Seen(time: facts.presentationTime, duration: facts.duration, hash: hash ?? "unreadable"))
        }
        check(display)
        return frames
    }

    private func image(at time: MediaTime, shade: UInt8 = 50) throws -> SharedFrame {
        let pool = SurfacePool(
            layout: SurfaceLayout(format: .gray, covering: PixelSize(width: 32, height: 16)), allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw SurfaceError(.closed, "no slot") }
        unsafe writer.withUnsafeMutableBytes { _ = unsafe $0.initializeMemory(as: UInt8.self, repeating: shade) }
        return SharedFrame(
            VideoFrame(
                use: writer.finish(), visible: PixelRect(PixelSize(width: 32, height: 16)), presentationTime: time,
                duration: MediaTime(value: 1, timescale: 5), sequence: 0))
    }

    private static func byTime(_ frames: some Sequence<Seen>) -> [Seen] { frames.sorted { $0.time < $1.time } }

    @Test func `an image waits for the decoder's earlier frames, has its sample's times, and leaves the decoder its references`() throws {
        let samples = try film(), expected = try seen(samples), place = 11
        #expect(!samples[place].flags.contains(.sync) && expected.count == samples.count)
        let time = MediaTime(value: 77, timescale: 10), length = MediaTime(value: 3, timescale: 10)
        let own = SampleBuffer(content: .image(try image(at: .zero)), presentationTime: time, duration: length)
        let inherited = SampleBuffer(content: .image(try image(at: MediaTime(value: 8, timescale: 1))))
        let hidden = SampleBuffer(content: .image(try image(at: time)), flags: .doNotDisplay)
        var mixed = samples
        mixed.insert(contentsOf: [own, hidden, inherited], at: place)
        let found = try seen(mixed, check: { #expect($0.decoderReport?.droppedInDecoding[.doNotDisplay] == 1) })
        #expect(found.count == samples.count + 2)
        #expect(found[place].time == time && found[place].duration == length)
        #expect(found[place + 1].time == MediaTime(value: 8, timescale: 1) && found[place + 1].duration == MediaTime(value: 1, timescale: 5))
        #expect(found[place].hash == found[place + 1].hash)
        let times = Set(samples[..<place].map { $0.presentationTime })
        let before = Set(found[..<place].map { $0.time })
        #expect(before == times, "what was decoded before is shown before")
        #expect(Self.byTime(found[..<place] + found[(place + 2)...]) == Self.byTime(expected))
    }

    /// An image buffer of the program's own.
    private final class Stranger: ImageBuffer {
        let visibleSize = PixelSize(width: 8, height: 8)
        let pixelFormat = PixelFormat.gray
    }

    @Test func `an image that no sink can show is dropped with its reason`() throws {
        let samples = try film()
        let found = try seen(
            [SampleBuffer(content: .image(Stranger()))] + samples, check: { #expect($0.decoderReport?.droppedInDecoding[.unsupported] == 1) })
        #expect(found.count == samples.count)
    }

    @Test(arguments: [Marker.drain, .resetDecoder, .discontinuity])
    func `a marker comes in its place, with its time and what is attached to it`(kind: Marker) throws {
        let samples = try film(), expected = try seen(samples)
        // Only a drain leaves the decoder its references.
        let sync = samples.indices.dropFirst().first { samples[$0].flags.contains(.sync) }
        let dependent = try #require(samples.indices.dropFirst(7).first { !samples[$0].flags.contains(.sync) })
        let place = kind == .drain ? dependent : sync ?? samples.endIndex
        var marker = SampleBuffer(marker: kind)
        marker.presentationTime = MediaTime(value: 5, timescale: 1)
        marker.attachments["chapter"] = "two"
        var mixed = samples
        mixed.insert(marker, at: place)
        let reached = Monitor<[String]>([])
        let note: @Sendable (SampleBuffer, Int) -> Void = { sample, offered in
            guard case .marker(let marker) = sample.content else { return }
            let chapter = sample.attachments["chapter"] as? String
            reached.withLock { $0.append("\(marker) at \(sample.presentationTime.isNumeric), \(chapter ?? "none"), \(offered)") }
        }
        let found = try seen(mixed, onMarker: note)
        #expect(
            reached.withLock { $0 } == ["\(kind) at true, two, \(place)", "endOfStream at false, none, \(samples.count)"])
        #expect(Self.byTime(found) == Self.byTime(expected))
    }
}
