import Media
import PlaySupport
import Testing

@Suite struct StatusLineTests {
    private let line = StatusLine(
        isPlaying: true, position: MediaTime(value: 42, timescale: 10), duration: MediaTime(value: 10, timescale: 1),
        framesDropped: 3, bufferedSeconds: 1.84, volume: 100)

    @Test func `says where the film is, with a bar`() {
        #expect(line.text(columns: 80) == "▶ 00:00:04.200 / 00:00:10.000 ▕███████▌          ▏  42%  dropped 3  buffer 1.8 s")
    }

    @Test(arguments: 0...120) func `is never wider than the terminal`(_ columns: Int) {
        #expect(line.text(columns: columns).count <= columns)
    }

    @Test func `leaves out the bar before the numbers, and the last numbers first`() {
        var cached = line
        cached.cachedBytes = 12_900_000
        #expect(cached.text(columns: 80) == "▶ 00:00:04.200 / 00:00:10.000  42%  dropped 3  buffer 1.8 s  cache 12.3 MiB")
        (cached.cachedSeconds, cached.bytesPerSecond) = (44.6, 2_200_000)
        #expect(cached.text(columns: 100).hasSuffix("  buffer 1.8 s  cache 12.3 MiB (45 s)  2.1 MiB/s"))
        #expect(line.text(columns: 60) == "▶ 00:00:04.200 / 00:00:10.000  42%  dropped 3  buffer 1.8 s")
        #expect(line.text(columns: 50) == "▶ 00:00:04.200 / 00:00:10.000  42%  dropped 3")
    }

    @Test func `a live film tells how far it is behind`() {
        var live = line
        (live.duration, live.latency) = (.indefinite, 0.483)
        #expect(live.text(columns: 80) == "▶ 00:00:04.200  dropped 3  buffer 1.8 s  latency 0.48 s")
    }

    @Test func `the hour of a frame stands behind its time, where its sender says it`() throws {
        var dated = line
        dated.programDate = ProgramDate(iso8601: "2026-11-27T20:15:03.9Z")
        let text = dated.text(columns: 80), begin = "▶ 00:00:04.200 / 00:00:10.000 ("
        #expect(text.hasPrefix(begin) && text.dropFirst(begin.count).prefix(9).hasSuffix(":03)"), "\(text)")
        for columns in 0...120 { #expect(dated.text(columns: columns).count <= columns) }
    }

    @Test func `a stream without an end has no bar and no percentage`() {
        var live = line
        live.duration = .indefinite
        #expect(live.text(columns: 80) == "▶ 00:00:04.200  dropped 3  buffer 1.8 s")
    }

    @Test func `shows what is unusual: pause, speed, volume, mute`() {
        var odd = line
        odd.isPlaying = false
        odd.speed = 1.5
        odd.volume = 50
        #expect(odd.text(columns: 120).hasPrefix("⏸ "))
        #expect(odd.text(columns: 120).hasSuffix("speed 1.50×  volume 50%"))
        odd.isMuted = true
        #expect(odd.text(columns: 120).hasSuffix("muted"))
    }
}
