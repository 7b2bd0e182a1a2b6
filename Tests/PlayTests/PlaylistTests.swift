import Foundation
import Media
import TestSupport
import Testing

/// Several films on one command line.
@Suite(.serialized) struct PlaylistTests {
    private static let plain = TestAssets.path("plain.mp4"), short = TestAssets.path("short.mp4"), other = TestAssets.path("vp9.webm")
    private static let untimed = ["--sink", "headless", "--untimed"]

    /// The members of each film that `--stats` wrote.
    private static func films(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]], "\(text)")
    }

    private static func names(_ text: String) throws -> [String] {
        try films(text).map { (($0["file"] as? String) ?? "").split(separator: "/").last.map(String.init) ?? "" }
    }

    @Test func `the checksums of several films are those of each, one after the other`() throws {
        let all = [Self.plain, Self.other, TestAssets.path("size-change.h264"), Self.short]
        let together = try PlayProgram.run(["--sink", "md5=-"] + all)
        #expect(together.code == 0 && together.errors.isEmpty, "\(together.errors)")
        #expect(together.output == (try all.map { try PlayProgram.run(["--sink", "md5=-", $0]).output }.joined()))
    }

    @Test(arguments: ["headless", "untimed"]) func `several films play in their order, and statistics are an array`(_ way: String) throws {
        let outcome = try PlayProgram.run(
            ["--no-audio", "--sink", "headless", "--stats", "-"] + (way == "untimed" ? ["--untimed"] : []) + [Self.short, Self.plain, Self.other])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(try Self.names(outcome.output) == ["short.mp4", "plain.mp4", "vp9.webm"])
        let shown = try Self.films(outcome.output).map { film in
            ((film["framesPresented"] as? Int) ?? 0) + ((film["framesDropped"] as? [String: Int])?.values.reduce(0, +) ?? 0)
        }
        #expect(shown == [10, 30, 30], "\(outcome.output)")
    }

    @Test(
        .unsanitized,
        arguments: [
            ([short, "/nowhere/film.mp4", plain], 66, ["/nowhere/film.mp4"], 2),
            (["/nowhere/a.mp4", TestAssets.path("README.md"), short], 66, ["/nowhere/a.mp4", "README.md"], 1),
            ([TestAssets.path("README.md"), "/nowhere/a.mp4"], 65, ["README.md", "/nowhere/a.mp4"], 0),
            (["/nowhere/a.mp4", "/nowhere/b.mp4", "--loop-playlist"], 66, ["a.mp4", "b.mp4"], 0),
        ] as [([String], Int32, [String], Int)])
    func `a film that fails is named and skipped, and the first failure is the exit code`(
        _ arguments: [String], _ code: Int32, _ words: [String], _ played: Int
    ) throws {
        let outcome = try PlayProgram.run(Self.untimed + ["--stats", "-"] + arguments)
        #expect(outcome.code == code && !outcome.crashed, "\(outcome.errors)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == words.count && zip(lines, words).allSatisfy { $0.hasPrefix("play: ") && $0.contains($1) }, "\(outcome.errors)")
        #expect(try Self.films(outcome.output).count { ($0["framesPresented"] as? Int ?? 0) > 0 } == played, "\(outcome.output)")
    }

    /// A film of frames, whose sound no decoder takes: what the container says of AAC is zeros.
    private static func makeRefusedSound(_ path: String) throws {
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "mpeg4", "-c:a", "aac", path])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let codec = try #require(bytes.firstRange(of: Array("A_AAC".utf8)))
        let head = try #require(bytes[codec.upperBound...].firstRange(of: [0x63, 0xA2])), count = Int(bytes[head.upperBound] & 0x7F)
        for place in 1...count { bytes[head.upperBound + place] = 0 }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test(
        arguments: [["refused", "refused"], ["plain", "refused"], ["refused", "demo"], ["demo", "refused", "demo", "refused", "demo"]],
        ["off", "full"])
    func `a film whose sound cannot be decoded plays in its place, and the list goes on`(_ names: [String], _ sandbox: String) throws {
        let folder = NSTemporaryDirectory() + "refused-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Self.makeRefusedSound(folder + "/refused.mkv")
        let films = names.map { $0 == "refused" ? folder + "/refused.mkv" : TestAssets.path($0 + ".mp4") }
        let options = ["--sink", "headless", "--audio-device", "null", "--duration", "0.4", "--stats", "-", "--sandbox", sandbox]
        let outcome = try PlayProgram.run(options + films)
        #expect(outcome.code == 0 && outcome.errors.contains("No sound: the decoder 'aac' refused the sound track"), "\(outcome.errors)")
        let all = try Self.films(outcome.output)
        #expect(
            all.map { ($0["framesPresented"] as? Int ?? 0) + ((($0["framesDropped"] as? [String: Int])?["late"]) ?? 0) }
                == names.map { $0 == "refused" ? 10 : 12 }, "\(outcome.output)")
    }

    @Test func `a list ends whose last film is over before it is said to be shown`() throws {
        let folder = NSTemporaryDirectory() + "nothing-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Of the first film nothing can be decoded, so that no frame says that another one begins.
        try FFmpeg.run(["-i", TestAssets.path("vp9.webm"), "-c", "copy", folder + "/film.ivf"])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/film.ivf")))
        var place = 32
        while place + 12 < bytes.count {
            let size = bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            bytes[place + 12] = 0
            place += 12 + size
        }
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/film.ivf"))
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "null", "--speed", "16", "--duration", "0.1", folder + "/film.ivf", TestAssets.demo])
        #expect(outcome.code == 65 && outcome.errors == "play: \(folder)/film.ivf: nothing in it could be decoded.\n", "\(outcome.errors)")
    }

    /// No sound follows that of the films before, or comes at all: its end must be told nevertheless.
    @Test(.unsanitized, arguments: ["silent track", "wrong sound"])
    func `a list ends whose last film has not one sample of sound`(_ what: String) throws {
        let folder = NSTemporaryDirectory() + "soundless-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let frames = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.4", "-c:v", "mpeg4"], sound = ["-f", "lavfi", "-i", "sine=d=0.4"]
        func make(_ name: String, _ words: [String]) throws { try FFmpeg.run(words + ["\(folder)/\(name).mkv"]) }
        try make("1", sound + frames + ["-c:a", "aac"])
        try make("2", frames)
        // A track without a sample, or one of another codec in which nothing can be decoded.
        try make("3", sound + frames + (what == "silent track" ? ["-c:a", "aac", "-frames:a", "0"] : ["-c:a", "flac", "-bsf:a", "noise=amount=1"]))
        for films in [["1", "2", "3"], ["1", "3"], ["3", "3", "1"], ["1", "3", "2", "3"]] {
            let outcome = try PlayProgram.run(
                ["--sink", "headless", "--audio-device", "null", "--stats", "-"] + films.map { "\(folder)/\($0).mkv" })
            #expect(outcome.code == 0 && !outcome.crashed, "\(films) \(outcome.code): \(outcome.errors)")
            #expect(try Self.names(outcome.output) == films.map { $0 + ".mkv" })
        }
    }

    @Test func `a frame rate that is damaged holds no list`() throws {
        let path = NSTemporaryDirectory() + "rate-\(UUID().uuidString.prefix(8)).ivf"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FFmpeg.run(["-i", TestAssets.path("vp9.webm"), "-c", "copy", "-frames:v", "1", path])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        // A frame lasts two years, and nothing says how many there are.
        bytes.replaceSubrange(16..<28, with: [60, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let outcome = try PlayProgram.run(["--no-audio", "--sink", "headless", "--stats", "-", path, Self.short])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        // On a busy machine frames come too late to be shown.
        #expect(try Self.films(outcome.output).map { $0["framesDecoded"] as? Int ?? 0 } == [1, 10], "\(outcome.output)")
    }

    @Test func `lists and folders play, and a list from standard input`() throws {
        let folder = NSTemporaryDirectory() + "playlist-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, film) in [("2.mp4", Self.short), ("10.webm", Self.other)] {
            try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: film)
        }
        try Data("#EXTM3U\r\n10.webm\r\nlost.mkv\r\n2.mp4\r\n".utf8).write(to: URL(fileURLWithPath: folder + "/list.m3u"))
        let all = try PlayProgram.run(
            Self.untimed + ["--stats", "-", folder, folder + "/list.m3u", "--playlist", "-"], input: Data("\(Self.plain)\n".utf8))
        #expect(all.code == 66 && all.errors.split(separator: "\n").count == 1 && all.errors.contains("/lost.mkv: no such file"), "\(all.errors)")
        #expect(try Self.names(all.output) == ["2.mp4", "10.webm", "10.webm", "lost.mkv", "2.mp4", "plain.mp4"])
        // One name that may hold many films gives an array, too.
        #expect(try Self.names(PlayProgram.run(Self.untimed + ["--stats", "-", folder]).output) == ["2.mp4", "10.webm"])
    }

    @Test(
        .unsanitized,
        arguments: [
            (["--playlist", "/nowhere/list"], 66, "/nowhere/list: no such file."), (["/nowhere/list.m3u"], 66, "/nowhere/list.m3u: no such file."),
            (["--playlist", short], 65, "not a list"), (["--playlist", "/dev/zero"], 65, "at most 16 MiB"),
            (["--playlist", "/dev/null"], 65, "names no film"),
        ])
    func `a list that is none is one sentence`(_ arguments: [String], _ code: Int32, _ words: String) throws {
        let outcome = try PlayProgram.run(Self.untimed + arguments)
        #expect(outcome.code == code && outcome.errors.contains(words) && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }

    @Test func `a folder that changes while it plays, without end`() throws {
        let folder = NSTemporaryDirectory() + "kiosk-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder + "/films", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createSymbolicLink(atPath: folder + "/films/1.mp4", withDestinationPath: Self.short)
        let handle = PlayProgram.Handle(), report = folder + "/stats"
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--loop-playlist", "--stats", report, folder + "/films"], limit: 90, handle: handle)
        func played() throws -> [String] {
            let text = TextFile.contents(of: report) ?? ""
            return text.split(separator: "\n").filter { $0.contains("\"file\"") }.map { $0.contains("/1.mp4") ? "1" : "2" }
        }
        #expect(try Polling.until { try played().count >= 2 })
        try FileManager.default.createSymbolicLink(atPath: folder + "/films/2.webm", withDestinationPath: Self.other)
        #expect(try Polling.until { try played().contains("2") })
        try FileManager.default.removeItem(atPath: folder + "/films/1.mp4")
        #expect(try Polling.until { try played().suffix(2) == ["2", "2"] })
        handle.interrupt()
        let end = try outcome()
        #expect(end.code == 0 && end.errors.isEmpty, "\(end.errors)")
    }

    /// A thousand joins with `--full`.
    @Test(.unsanitized) func `memory and descriptors stay as they are from film to film`() throws {
        let count = TestExtent.isFull ? 999 : 30, list = NSTemporaryDirectory() + "joins-\(UUID().uuidString.prefix(8)).m3u"
        defer { try? FileManager.default.removeItem(atPath: list) }
        let films = (0..<count).map { [Self.short, Self.plain, Self.other][$0 % 3] }
        try films.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        let handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--audio-device", "null", "--speed", "4", "--stats", "-", list], limit: 3600, handle: handle)
        var memory: [Int] = [], descriptors: [Int] = []
        try #require(Polling.until { handle.processIdentifier != nil })
        while handle.isRunning {
            usleep(200_000)
            guard let process = handle.processIdentifier, let status = TextFile.contents(of: "/proc/\(process)/status"),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
                let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"), !open.isEmpty
            else { continue }
            memory.append(line.split(separator: " ").compactMap { Int($0) }.first ?? 0)
            descriptors.append(open.count)
        }
        let end = try outcome()
        #expect(end.code == 0 && end.errors.isEmpty, "\(end.errors)")
        #expect(try Self.names(end.output).count == count)
        if TestExtent.isFull { print("KiB and descriptors of \(count) films:", memory, descriptors) }
        // The first films fill what is kept from then on: pools, and the memory of libraries.
        let settled = memory.count / 3
        try #require(settled > 3)
        // AddressSanitizer keeps 256 MB of what was freed.
        if !TestExtent.isSanitized { #expect(memory[(2 * settled)...].max()! < memory[settled..<(2 * settled)].max()! + 16 << 10, "\(memory)") }
        #expect(descriptors[(2 * settled)...].max()! <= descriptors[..<(2 * settled)].max()! + 4, "\(descriptors)")
    }

    @Test func `an output that fails ends the whole list`() throws {
        let outcome = try PlayProgram.run(["--sink", "md5=/dev/full", TestAssets.demo, TestAssets.demo, TestAssets.demo])
        #expect(outcome.code == 74 && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }

    @Test func `a shuffled list plays every film once`() throws {
        let all = [Self.plain, Self.other, Self.short]
        let outcome = try PlayProgram.run(Self.untimed + ["--shuffle", "--stats", "-"] + all)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try Self.names(outcome.output).sorted() == ["plain.mp4", "short.mp4", "vp9.webm"], "\(outcome.errors)")
    }

    @Test func `keys go to the next film and back, and q ends all`() throws {
        let terminal = try PseudoTerminal()
        let films = ["demo.mp4", "plain.mp4", "vp9.webm"].map { TestAssets.path($0) }
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--loop", "--stats", "-"] + films, limit: 40, terminal: terminal.path)
        #expect(Polling.until { !terminal.isAsFound })
        // All at once: none of them may be lost between two films. The last film has no next one.
        terminal.type("\n><>>")
        terminal.type("q")
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
        #expect(try Self.names(end.output) == ["demo.mp4", "plain.mp4", "vp9.webm", "plain.mp4", "vp9.webm"], "\(end.output)")
        #expect(terminal.isAsFound)
    }

    @Test func `a signal ends a list that never ends by itself, with its statistics`() throws {
        let report = NSTemporaryDirectory() + "statistics-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: report) }
        let handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            Self.untimed + ["--no-audio", "--loop-playlist", "--stats", report, Self.short, Self.plain], limit: 90, handle: handle)
        // A film's statistics are written when it has ended.
        func written() -> String { TextFile.contents(of: report) ?? "" }
        #expect(Polling.until { written().components(separatedBy: "\"file\"").count > 3 })
        handle.send(SIGTERM)
        let end = try outcome()
        #expect(end.code == 0 && end.errors.isEmpty, "\(end.errors)")
        let names = try Self.names(written())
        #expect(names.count >= 3 && Set(names.dropLast()) == ["short.mp4", "plain.mp4"], "\(names)")
    }

    /// A film whose track of sound has not one sample, behind one without sound.
    @Test func `a list ends behind a film whose sound never comes`() throws {
        let film = ProcessFolder.path("silent.mkv"), process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.demo, "-t", "1", "-c", "copy", "-bsf:a", "noise=drop=1", film]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", "--stats", "-", Self.plain, film])
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code) \(outcome.errors)")
        #expect(try Self.names(outcome.output) == ["plain.mp4", "silent.mkv"])
    }

    /// An IVF file of two frames of VP8 in which there is nothing but zeros.
    private static func undecodable(_ name: String) throws -> String {
        func bytes(_ number: UInt64, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) } }
        var file = Array("DKIF".utf8) + bytes(0, 2) + bytes(32, 2) + Array("VP80".utf8)
        file += bytes(64, 2) + bytes(48, 2) + bytes(25, 4) + bytes(1, 4) + bytes(2, 8)
        for time: UInt64 in 0..<2 { file += bytes(40, 4) + bytes(time, 8) + [UInt8](repeating: 0, count: 40) }
        let path = ProcessFolder.path(name)
        try Data(file).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a list ends, and goes on, behind films of which nothing can be decoded`() throws {
        let films = try (1...3).map { try Self.undecodable("nothing-\($0).ivf") }
        for (list, code) in [(films, 65), (films + [Self.plain], 65), ([Self.plain] + films, 65)] {
            let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", "--speed", "8"] + list)
            #expect(!outcome.crashed && outcome.code == code, "\(outcome.code) \(outcome.errors)")
            for film in films { #expect(outcome.errors.contains("\(film): nothing in it could be decoded."), "\(outcome.errors)") }
        }
    }

    /// Few descriptors: one that a film leaves open would soon be one too many.
    @Test(arguments: [["--untimed"], ["--no-audio", "--speed", "16"]])
    func `a list of any length, of ten thousand films with --full, needs no more than its first films`(_ options: [String]) throws {
        let count = options == ["--untimed"] ? TestExtent.rounds(250, full: 10_000, sanitized: 80) : TestExtent.rounds(60, full: 500, sanitized: 30)
        let films = [String](repeating: Self.short, count: count)
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--stats", "-"] + options + films, limit: Double(TestExtent.rounds(120, full: 1200)),
            launcher: ["sh", "-c", #"ulimit -n 48; exec "$0" "$@""#])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let peaks = try Self.films(outcome.output).compactMap { $0["peakRSSBytes"] as? Int }
        try #require(peaks.count == count)
        // Sanitizers keep what was freed; that is no growth of ours.
        #expect(TestExtent.isSanitized || peaks[count - 1] <= peaks[count / 4] + 6 << 20, "\(peaks[count / 4]) … \(peaks[count - 1])")
    }

    @Test(arguments: [
        (["--loop-playlist", "--sink", "md5=-", short], "--loop-playlist"), (["--sink", "headless", "-", "-"], "Standard input"),
        (["--shuffle", "--sink", "headless"], "No film is named."), (["--playlist", "-", "--sink", "headless", "-"], "Standard input"),
        (["--raw", "h264", "--playlist", "x", "--sink", "headless"], "--playlist"),
    ])
    func `options that make no sense with a list are refused`(_ arguments: [String], _ words: String) throws {
        let outcome = try PlayProgram.run(arguments)
        #expect(outcome.code == 64 && outcome.errors.contains(words), "\(outcome.errors)")
    }
}
