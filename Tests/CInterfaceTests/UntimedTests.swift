import CScanout
import TestSupport
import Testing

/// A film without a clock through the C interface: it pauses, steps and says where it is.
@Suite struct UntimedTests {
    @Test func `a film that starts paused waits for steps, and its position is that of the frame in hand`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), startsPaused: true)
        let first = try #require(film.next())
        #expect(first.info.film_time == 0 && first.info.host_time == .min)
        // The decoder goes ahead; nothing of it is handed out.
        var counts = scanout_exporter_statistics()
        counts.size = UInt32(MemoryLayout<scanout_exporter_statistics>.size)
        #expect(
            Polling.until {
                unsafe scanout_exporter_get_statistics(film.exporter, &counts) == SCANOUT_OK && counts.offered >= 4
            })
        var frame: OpaquePointer?
        #expect(unsafe scanout_exporter_wait(film.exporter, 50_000_000, &frame) == SCANOUT_NOTHING)
        var last = first.info
        for _ in 0..<5 {
            #expect(unsafe scanout_step(film.player, 1) == SCANOUT_OK)
            let next = try #require(film.next())
            #expect(
                next.info.sequence == last.sequence + 1 && abs(next.info.film_time - last.film_time - last.duration) <= 1,
                "times are whole nanoseconds")
            #expect(Polling.until { unsafe scanout_position(film.player) == next.info.film_time })
            last = next.info
        }
        #expect(unsafe scanout_exporter_wait(film.exporter, 5_000_000, &frame) == SCANOUT_NOTHING)
        #expect(unsafe scanout_play(film.player) == SCANOUT_OK)
        while let next = film.next() { last = next.info }
        let end = last.film_time + last.duration
        #expect(Polling.until { unsafe scanout_position(film.player) == end })
        #expect(unsafe scanout_duration(film.player) == end)
    }
}
