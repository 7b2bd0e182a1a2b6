import CScanout
import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// Frames through the C interface, in this process.
@Suite struct FrameTests {
    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264"])
    func `every frame has the decoder's bytes`(_ name: String) throws {
        let path = TestAssets.path(name)
        let film = try Film(path)
        var sums: [String] = []
        while let frame = film.next() {
            #expect(frame.info.is_new == 1 && frame.info.is_copy == 0)
            sums.append(frame.md5)
        }
        let reference = try FilmReference.sums(path)
        #expect(!sums.isEmpty && sums == reference)
    }

    @Test func `a description says what the film says`() throws {
        let frame = try #require(try Film(TestAssets.path("hdr10.mp4")).next())
        var info = frame.info
        let format = unsafe withUnsafeBytes(of: &info.format) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #expect(format == "yuv420p10le" && info.bit_depth == 10 && info.plane_count == 3)
        #expect(info.planes.0.bits == 16 && info.planes.1.visible_width == (info.visible_width + 1) / 2)
        #expect(info.primaries == 9 && info.transfer == 16 && info.matrix == 9)
        #expect(info.has_hdr == 1 && info.hdr.maximum_luminance > info.hdr.minimum_luminance)
        #expect(info.film_time == 0 && info.duration > 0)
        let turned = try #require(try Film(TestAssets.path("rotation-90.mp4")).next())
        #expect(turned.info.rotation == 90 && turned.info.field_order == 0)
    }

    @Test(arguments: [true, false]) func `a frame of two fields says which comes first`(_ isTopFirst: Bool) throws {
        let path = ProcessFolder.path("fields-\(isTopFirst).ts")
        let filter = isTopFirst ? "tinterlace=interleave_top" : "tinterlace=interleave_bottom"
        let coding = ["-c:v", "mpeg2video", "-b:v", "4M", "-flags", "+ilme+ildct", "-top", isTopFirst ? "1" : "0"]
        let outcome = try Tool.run(
            "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x96:r=50:d=0.2", "-vf", filter] + coding + ["-y", path])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let frame = try #require(try Film(path).next())
        #expect(frame.info.field_order == (isTopFirst ? 1 : 2))
    }

    @Test func `a program with an older header gets what it knows`() throws {
        let film = try Film(TestAssets.path("plain.mp4"))
        var frame: OpaquePointer?
        try #require(unsafe scanout_exporter_wait(film.exporter, -1, &frame) == SCANOUT_OK)
        defer { unsafe scanout_frame_release(frame) }
        var info = scanout_frame_info()
        info.size = 40
        info.byte_count = 77
        #expect(unsafe scanout_frame_describe(frame, &info) == SCANOUT_OK)
        #expect(info.size == 40 && info.plane_count == 3 && info.byte_count == 77, "nothing is written beyond the size given")
        for size: UInt32 in [0, 3, 5000, .max] {
            info.size = size
            #expect(unsafe scanout_frame_describe(frame, &info) == SCANOUT_ERROR_ARGUMENT)
        }
    }

    @Test func `a program with a newer header is refused what this library lacks`() throws {
        @safe struct Newer: BitwiseCopyable {
            var known = unsafe scanout_exporter_options()
            var unknown: UInt64 = 0
        }
        var options = Newer(), exporter: OpaquePointer?
        unsafe options.known.size = UInt32(MemoryLayout<Newer>.size)
        func make() -> scanout_result {
            unsafe withUnsafePointer(to: &options) { options in
                unsafe options.withMemoryRebound(to: scanout_exporter_options.self, capacity: 1) { unsafe scanout_exporter_new($0, &exporter) }
            }
        }
        #expect(make() == SCANOUT_OK)
        unsafe scanout_exporter_close(exporter)
        options.unknown = 1
        #expect(make() == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe exporter == nil)
    }

    @Test func `who holds all it may gets nothing until it gives one back`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), budget: 2)
        let first = try #require(film.next()), second = try #require(film.next())
        let bytes = first.md5
        var third: OpaquePointer?
        #expect(unsafe scanout_exporter_wait(film.exporter, 0, &third) == SCANOUT_NOTHING)
        second.release(after: -1)
        #expect(film.next() != nil)
        #expect(first.md5 == bytes)
    }

    @Test func `a frame outlives its player and its exporter`() throws {
        let path = TestAssets.path("plain.mp4")
        let reference = try FilmReference.sums(path)
        var film: Film? = try Film(path)
        let frame = try #require(film?.next())
        film?.close()
        #expect(frame.md5 == reference[0])
        film = nil
        #expect(frame.md5 == reference[0])
    }

    @Test func `the memory is not written before the fence that came with the release`() throws {
        // The end of a pipe is readable at once or later, as a fence is.
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let path = TestAssets.path("plain.mp4")
        let reference = try FilmReference.sums(path)
        // One for the frame that its device is not done with, one for those that follow.
        let film = try Film(path, budget: 2)
        let first = try #require(film.next())
        let place = first.info.planes.0, fd = dup(place.fd), count = Int(first.info.byte_count)
        let memory = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, fd, 0)
        defer {
            unsafe munmap(memory, count)
            close(fd)
        }
        let slot = first.info.identity.2, before = unsafe Checksum.md5([UInt8](UnsafeRawBufferPointer(start: memory, count: count)))
        first.release(after: ends[0])
        var sums = [reference[0]], slots: Set<UInt32> = []
        while let frame = film.next() {
            slots.insert(frame.info.identity.2)
            sums.append(frame.md5)
        }
        #expect(sums == reference)
        #expect(!slots.contains(slot))
        #expect(unsafe Checksum.md5([UInt8](UnsafeRawBufferPointer(start: memory, count: count))) == before)
        close(ends[1])
    }

    @Test func `a renderer gets the frame of its moment, and the same again`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), output: SCANOUT_OUTPUT_NONE, policy: SCANOUT_POLICY_DROP_OLDEST, startsPaused: true)
        func pull() -> Held? {
            var frame: OpaquePointer?
            return unsafe scanout_exporter_frame_for(film.exporter, .max, &frame) == SCANOUT_OK ? Held(frame) : nil
        }
        let first = try #require(film.next()), again = try #require(pull())
        #expect(first.info.is_new == 1 && again.info.is_new == 0)
        #expect(first.info.identity == again.info.identity && first.info.sequence == again.info.sequence)
        #expect(first.info.film_time == 0 && again.md5 == first.md5)
        #expect(unsafe scanout_is_playing(film.player) == 0)
        #expect(unsafe scanout_play(film.player) == SCANOUT_OK)
        let later = try #require(film.next())
        #expect(later.info.film_time > 0 && later.info.host_time != .min)
    }

    @Test func `every frame can be fetched where the news of it comes`() throws {
        let path = TestAssets.path("plain.mp4"), listener = Listener()
        let film = try Film(path, listener: listener)
        let _: Void? = listener.state.wait { $0.isOver ? () : nil }
        #expect(unsafe scanout_exporter_set_news_handler(film.exporter, nil, nil) == SCANOUT_OK)
        let sums = listener.state.withLock { $0.sums }, reference = try FilmReference.sums(path)
        #expect(!sums.isEmpty && sums == reference)
        #expect(unsafe scanout_exporter_next_time(film.exporter) == .min)
        #expect(scanout_exporter_set_news_handler(nil, nil, nil) == SCANOUT_ERROR_ARGUMENT)
    }
}
