import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// One player after the other on one display, each with films that follow each other without a gap, as the program plays a list.
private final class Programme: Sendable {
    struct Count: Sendable {
        var films = 0, seconds = 0.0, joins = 0
        /// What did not follow or could not be opened.
        var lost: [String] = []
    }

    private let sink: LastingSink
    private let configuration: PlayerConfiguration
    private let total = Monitor(Count())

    init(_ sink: any DisplaySink, _ configuration: PlayerConfiguration) {
        self.sink = LastingSink(sink, capacity: DisplayQueue.decodedAhead) { _ in }
        self.configuration = configuration
    }

    var count: Count { total.withLock { $0 } }

    /// Plays films to the end of the last one, at this speed.
    func play(_ films: [String], rate: Double) throws {
        var configuration = configuration
        configuration.rate = rate
        let hasEnded = Monitor(false), rest = Monitor(Array(films.dropFirst()))
        let player = Player(sink: sink, configuration: configuration) { [total] event in
            switch event {
            case .ended: hasEnded.change { $0 = true }
            case .failed(let error):
                total.withLock { $0.lost.append(error.description) }
                hasEnded.change { $0 = true }
            default: break
            }
        }
        var succession = Succession()
        // Another thread than the one that tells.
        let choose: @Sendable () -> Void = { [weak player, total] in
            _ = LoopThread(name: "choose") { [weak player] in
                guard let player, player.claimNext() else { return }
                guard let next = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return player.endFilms() }
                player.follow(with: .place(next), title: nil) { outcome in
                    if case .success(true) = outcome { return }
                    total.withLock { $0.lost.append(next) }
                }
            }
        }
        succession.wanted = choose
        succession.began = { [weak player, total] _ in
            total.withLock { $0.joins += 1 }
            if let player { Self.count(player, total) }
            choose()
        }
        player.onSuccession(succession)
        try player.open(films[0])
        Self.count(player, total)
        let isDone: Bool? = hasEnded.wait(until: MonotonicClock.shared.now() + .seconds(300)) { $0 ? true : nil }
        player.close()
        try #require(isDone == true, "\(films) do not end")
    }

    private static func count(_ player: Player, _ total: Monitor<Count>) {
        let seconds = player.duration.seconds
        total.withLock { count in
            count.films += 1
            count.seconds += seconds
        }
    }
}

/// What a process has of the machine.
private struct Footprint: CustomStringConvertible {
    /// KiB: all that lies in memory, and what of it was written. A share of what others map, too, would grow when one of them ends.
    let resident: Int, written: Int
    let descriptors: Int

    init() {
        func number(_ file: String, _ name: String) -> Int {
            let line = (TextFile.contents(of: "/proc/self/" + file) ?? "").split(separator: "\n").first { $0.hasPrefix(name) }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        resident = number("status", "VmRSS:")
        written = number("smaps_rollup", "Private_Dirty:") + number("smaps_rollup", "Shared_Dirty:")
        descriptors = OpenDescriptors.count
    }

    var description: String { "\(resident) KiB resident, \(written) KiB of them written, \(descriptors) descriptors" }
}

/// A kiosk's list by a clock that runs two hundred times as fast, on a display whose refreshes lie where frames are due: every frame of every film is
/// decoded and shown. Sound alone runs four times as fast, the most at which it is heard; a film with subtitles once more at a speed at which they
/// are drawn before it ends.
@Suite struct DayTests {
    /// Codecs, sizes, rates and depths, stills, subtitles; then films of sound alone; then subtitles.
    private static func lists(_ folder: String) throws -> [[String]] {
        func make(_ name: String, _ words: [String]) throws -> String {
            let process = ChildProcess(), path = folder + "/" + name
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y"] + words + [path]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            return path
        }
        let lines = (0..<9).map { "\($0 + 1)\n00:00:0\($0),200 --> 00:00:0\($0),900\n<i>Line</i> \($0)\n\n" }.joined()
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/lines.srt"))
        let subtitled = try make("subtitled.mkv", ["-i", TestAssets.demo, "-i", folder + "/lines.srt", "-c", "copy", "-c:s", "srt"])
        let sign = try make("sign.png", ["-i", TestAssets.demo, "-frames:v", "1"])
        let photo = try make("photo.jpg", ["-i", TestAssets.path("plain.mp4"), "-frames:v", "1"])
        let names = ["demo.mp4", "vp9.webm", "hevc-10bit.mp4", "av1.mkv", "rate-23.976.mp4", "rate-60.mp4", "odd-size.webm", "edit-list.mp4"]
        var mixed = names.map { TestAssets.path($0) }
        mixed.insert(sign, at: 3)
        mixed.insert(subtitled, at: 6)
        mixed.append(photo)
        let sound = TestAssets.path("audio-only.flac")
        return [mixed, [sound, sound], [subtitled]]
    }

    @Test(.neverSanitized) func `a mixed list, a day of it with --full, leaves memory and descriptors as they were`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = ProcessFolder.path("day")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let lists = try Self.lists(folder)
            var configuration = PlayerConfiguration()
            configuration.joins = true
            configuration.audioDevice = "null"
            configuration.imageDuration = MediaTime(value: 60, timescale: 1)
            configuration.tracks.subtitles = .number(1)
            let sink = ExactSink(keepsAll: false, drawsOverlays: true), programme = Programme(sink, configuration)
            let day = TestExtent.isFull ? 86_400.0 : 300, settled = TestExtent.isFull ? day / 10 : day / 2
            var early: Footprint?
            while programme.count.seconds < day {
                for (list, rate) in zip(lists, [200.0, 4, 8]) { try programme.play(list, rate: rate) }
                if early == nil, programme.count.seconds >= settled { early = Footprint() }
            }
            let late = Footprint(), count = programme.count, before = try #require(early)
            let shown = sink.counts
            print("\(Int(count.seconds)) s, \(count.films) films, \(count.joins) joins, \(shown.frames) frames, \(shown.overlays) with subtitles")
            print("\(before), then \(late); lost: \(count.lost)")
            #expect(count.lost == [] && count.joins > 0)
            #expect(shown.frames > Int(day) && shown.overlays > 0)
            #expect(late.resident <= before.resident + 16 << 10 && late.written <= before.written + 16 << 10, "\(before), then \(late)")
            #expect(late.descriptors <= before.descriptors + 4, "\(before), then \(late)")
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
    }
}
