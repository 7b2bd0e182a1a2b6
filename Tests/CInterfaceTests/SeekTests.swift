import CScanout
import FilmReference
import Media
import TestSupport
import Testing

/// Seeks, and what exporters promise, through the C interface.
@Suite struct SeekTests {
    /// The frame that is pulled now; nil: none.
    private func pull(_ film: Film) -> Held? {
        var frame: OpaquePointer?
        return unsafe scanout_exporter_frame_for(film.exporter, .max, &frame) == SCANOUT_OK ? unsafe Held(frame) : nil
    }

    @Test(arguments: [true, false])
    func `after a seek neither an older frame nor the end comes, and an event names the seek`(_ isPaused: Bool) throws {
        let film = try Film(TestAssets.demo, startsPaused: isPaused)
        #expect(film.next()?.info.serial == 0)
        var dice = Dice(seed: 20), last: Int64 = 0
        for round in 1...TestExtent.rounds(20, full: 160, sanitized: 6) {
            if !isPaused, round % 5 == 0 { while film.next() != nil {} }
            let number = Int64.random(in: 0..<300, using: &dice)
            last = unsafe scanout_seek(film.player, (number * 1_000_000_000 + 29) / 30)
            #expect(last == Int64(round))
            if let held = pull(film) { #expect(held.info.serial == UInt64(last)) }
            let frame = try #require(film.next(), "the end, or nothing, after seek \(last)")
            #expect(frame.info.serial == UInt64(last) && abs(frame.info.film_time - number * 1_000_000_000 / 30) <= 1)
        }
        var sought: [UInt64] = []
        while sought.last != UInt64(last), let event = film.event(timeout: 60_000_000_000) {
            if event.kind == SCANOUT_EVENT_SOUGHT.rawValue, event.result == 0 { sought.append(event.serial) }
        }
        #expect(sought.last == UInt64(last) && sought == sought.sorted())
    }

    @Test func `with SCANOUT_POLICY_WAIT frame_for gives every frame`() throws {
        let path = TestAssets.path("plain.mp4")
        let film = try Film(path, output: SCANOUT_OUTPUT_NONE, policy: SCANOUT_POLICY_WAIT)
        var sums: [String] = []
        let reference = try FilmReference.sums(path)
        let isComplete = Polling.until(every: .milliseconds(30)) {
            // Each call gives the next one that is due; the same again when none is.
            var frame: OpaquePointer?
            let now = MonotonicClock.shared.now().nanoseconds
            while unsafe scanout_exporter_frame_for(film.exporter, now, &frame) == SCANOUT_OK {
                let held = unsafe Held(frame)
                guard held.info.is_new == 1 else { break }
                sums.append(held.md5)
            }
            return sums.count >= reference.count
        }
        #expect(isComplete && sums == reference, "\(sums.count) of \(reference.count)")
    }

    @Test func `an exporter that serves a film is refused for another, and the first film goes on`() throws {
        let path = TestAssets.path("plain.mp4"), film = try Film(path)
        func open(_ exporters: [OpaquePointer?]) -> (scanout_result, String) {
            var message = [CChar](repeating: 0, count: 200), player: OpaquePointer?
            let result = unsafe exporters.withUnsafeBufferPointer { exporters in
                var options = unsafe scanout_options()
                unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
                unsafe options.is_silent = 1
                unsafe options.exporters = exporters.baseAddress
                unsafe options.exporter_count = UInt32(exporters.count)
                return unsafe scanout_open(path, &options, &player, &message, message.count)
            }
            unsafe scanout_close(player)
            return (result, String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        let (result, sentence) = unsafe open([film.exporter])
        #expect(result == SCANOUT_ERROR_ARGUMENT && sentence.contains("serves another film"), "\(sentence)")
        var queue: OpaquePointer?
        let exporters = unsafe [film.exporter]
        let queued = unsafe exporters.withUnsafeBufferPointer { exporters in
            var options = unsafe scanout_queue_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_queue_options>.size)
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = 1
            return unsafe scanout_queue_open(&options, &queue, nil, 0)
        }
        #expect(unsafe queued == SCANOUT_ERROR_ARGUMENT && queue == nil)
        var sums: [String] = []
        while let frame = film.next() { sums.append(frame.md5) }
        let reference = try FilmReference.sums(path)
        #expect(sums == reference)
        // Free again when its film is closed; but not for the same film twice.
        film.close()
        let twice = unsafe open([film.exporter, film.exporter])
        #expect(twice.0 == SCANOUT_ERROR_ARGUMENT && twice.1.contains("twice"))
        #expect(unsafe open([film.exporter]).0 == SCANOUT_OK)
    }
}
