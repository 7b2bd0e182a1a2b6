import CScanout
import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// Samples of the program's own through the C interface, in this process.
@Suite struct QueueTests {
    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "vp9.webm", "av1.mkv", "crop.mp4"])
    func `what is fed is decoded, to the last frame`(_ name: String) throws {
        let path = TestAssets.path(name), feed = try Feed(path)
        let feeder = LoopThread(name: "feeder") { try? feed.run() }
        var sums: [String] = [], times: [Int64] = []
        while let frame = feed.next() {
            sums.append(frame.md5)
            times.append(frame.info.film_time)
        }
        feeder.join()
        let reference = try FilmReference.lines(path)
        #expect(!sums.isEmpty && sums == reference.map(\.hash))
        #expect(times == times.sorted() && times[0] == 0)
        #expect(feed.waitForEvent(SCANOUT_EVENT_ENDED))
    }

    @Test func `the descriptor says what is_ready says`() throws {
        // Nothing is fetched and time stands: the decoder takes some dozens, more than two seconds stay.
        let feed = try Feed(TestAssets.demo, output: SCANOUT_OUTPUT_NONE)
        #expect(unsafe scanout_queue_is_ready(feed.queue) == 1)
        #expect(feed.isReadable)
        for _ in 0..<250 { #expect(try feed.enqueueNext() == SCANOUT_OK) }
        #expect(unsafe scanout_queue_is_ready(feed.queue) == 0)
        #expect(!feed.isReadable)
        #expect(unsafe scanout_queue_flush(feed.queue, 1) == SCANOUT_OK)
        var poll = pollfd(fd: unsafe scanout_queue_ready_fd(feed.queue), events: Int16(POLLIN), revents: 0)
        #expect(unsafe Glibc.poll(&poll, 1, 30_000) == 1)
        #expect(unsafe scanout_queue_is_ready(feed.queue) == 1)
        #expect(unsafe scanout_queue_end(feed.queue) == SCANOUT_OK)
        #expect(unsafe scanout_queue_is_ready(feed.queue) == 0, "nothing is wanted after the end")
    }

    @Test func `the clock is the program's`() throws {
        let feed = try Feed(TestAssets.path("plain.mp4"), output: SCANOUT_OUTPUT_NONE, policy: SCANOUT_POLICY_DROP_OLDEST)
        try feed.run()
        #expect(feed.waitForEvent(SCANOUT_EVENT_SHOWN), "the first frame needs no clock")
        #expect(unsafe scanout_queue_time(feed.queue) == 0)
        #expect(unsafe scanout_queue_set_time(feed.queue, 500_000_000) == SCANOUT_OK)
        #expect(unsafe scanout_queue_time(feed.queue) == 500_000_000)
        #expect(unsafe scanout_queue_set_rate(feed.queue, 4) == SCANOUT_OK)
        #expect(feed.waitForEvent(SCANOUT_EVENT_ENDED))
        #expect(unsafe scanout_queue_time(feed.queue) > 500_000_000)
        for rate in [-1, .nan, .infinity] { #expect(unsafe scanout_queue_set_rate(feed.queue, rate) == SCANOUT_ERROR_ARGUMENT) }
    }

    @Test func `what cannot be decoded is an event, not a crash`() throws {
        let feed = try Feed(TestAssets.path("plain.mp4"))
        let result = unsafe Feed.describe(VideoFormat(codec: VideoCodec(name: "no-such-codec"), codedSize: PixelSize(width: 16, height: 16))) {
            unsafe scanout_queue_set_format(feed.queue, $0)
        }
        #expect(result == SCANOUT_OK)
        #expect(try feed.enqueueNext() == SCANOUT_OK)
        #expect(feed.waitForEvent(SCANOUT_EVENT_FAILED))
    }

    @Test func `samples and formats that make no sense are refused`() throws {
        var queue: OpaquePointer?
        try #require(unsafe scanout_queue_open(nil, &queue, nil, 0) == SCANOUT_OK)
        defer { unsafe scanout_queue_close(queue) }
        let bytes: [UInt8] = [0, 0, 0, 1]
        unsafe bytes.withUnsafeBytes { bytes in
            var sample = unsafe scanout_sample()
            unsafe sample.size = UInt32(MemoryLayout<scanout_sample>.size)
            unsafe sample.bytes = bytes.baseAddress
            unsafe sample.byte_count = 4
            #expect(unsafe scanout_queue_enqueue(queue, &sample) == SCANOUT_ERROR_ARGUMENT, "no format yet")
            func set(_ width: UInt32, rotation: UInt32 = 0, range: UInt8 = 0, setup: UInt32 = 0) -> scanout_result {
                unsafe "h264".withCString { name in
                    var format = unsafe scanout_video_format()
                    unsafe format.size = UInt32(MemoryLayout<scanout_video_format>.size)
                    unsafe format.codec = name
                    unsafe format.width = width
                    unsafe format.rotation = rotation
                    unsafe format.range = range
                    unsafe format.setup_size = setup
                    return unsafe scanout_queue_set_format(queue, &format)
                }
            }
            #expect(set(.max) == SCANOUT_ERROR_ARGUMENT && set(16, rotation: 45) == SCANOUT_ERROR_ARGUMENT)
            #expect(set(16, range: 3) == SCANOUT_ERROR_ARGUMENT && set(16, setup: 9) == SCANOUT_ERROR_ARGUMENT)
            #expect(set(16) == SCANOUT_OK)
            unsafe sample.byte_count = 0
            #expect(unsafe scanout_queue_enqueue(queue, &sample) == SCANOUT_ERROR_ARGUMENT)
            unsafe sample.byte_count = .max
            #expect(unsafe scanout_queue_enqueue(queue, &sample) == SCANOUT_ERROR_ARGUMENT)
            unsafe sample.byte_count = 4
            #expect(unsafe scanout_queue_enqueue(queue, &sample) == SCANOUT_OK, "whether it is a frame the decoder says")
        }
        #expect(unsafe scanout_queue_enqueue(queue, nil) == SCANOUT_ERROR_ARGUMENT && scanout_queue_set_format(queue, nil) == SCANOUT_ERROR_ARGUMENT)
    }
}
