import Capture
import Media
import PlaySupport
import Recording
import Testing

@Suite struct RecordingStatusLineTests {
    private static func film(_ change: (inout MovieFileReport) -> Void = { _ in }) -> MovieFileReport {
        var film = MovieFileReport()
        film.beginning = HostTime(nanoseconds: 5)
        film.time = MediaTime(value: 42, timescale: 10)
        film.frames = 105
        film.byteCount = 1_300_000
        film.framesDropped = [.late: 1, .outOfBuffers: 2]
        change(&film)
        return film
    }

    @Test func `says how far the recording is`() {
        #expect(RecordingStatusLine(Self.film()).text(columns: 80) == "● 00:00:04.200  105 frames  1.2 MiB  dropped 3")
        let bounded = RecordingStatusLine(Self.film { $0.isPaused = true }, longest: MediaTime(value: 60, timescale: 1))
        #expect(bounded.text(columns: 80) == "⏸ 00:00:04.200 / 00:01:00.000  105 frames  1.2 MiB  dropped 3")
        #expect(RecordingStatusLine(MovieFileReport()).text(columns: 80).hasPrefix("… 00:00:00.000"))
        let sound = Self.film { film in
            (film.frames, film.framesDropped) = (0, [:])
            film.soundTime = film.time
            film.soundLost = [.overrun: 48_000]
        }
        #expect(RecordingStatusLine(sound).text(columns: 80) == "● 00:00:04.200  1.2 MiB  sound lost")
    }

    @Test(arguments: 0...80) func `is never wider than the terminal`(_ columns: Int) {
        #expect(RecordingStatusLine(Self.film(), longest: MediaTime(value: 60, timescale: 1)).text(columns: columns).count <= columns)
    }
}
