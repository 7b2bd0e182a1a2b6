import Foundation
import Media
import TestSupport
import Testing

/// The program with its decoder in a process of its own.
@Suite(.serialized) struct SandboxTests {
    private static let canConfine: Bool = {
        guard let outcome = try? PlayProgram.run(["devices"]) else { return false }
        return outcome.output.contains("✓ decoder")
    }()

    @Test(.enabled(if: canConfine, "this kernel cannot confine a decoder"))
    func `sums are those of the film, with the decoder required to be confined`() throws {
        let inside = try PlayProgram.run(["--sink", "md5=-", "--sandbox", "require", TestAssets.demo])
        let outside = try PlayProgram.run(["--sink", "md5=-", TestAssets.demo])
        #expect(inside.code == 0)
        #expect(!inside.output.isEmpty && inside.output == outside.output)
    }

    @Test func `a film goes on when its demuxer is killed, a hundred times with --full, and ends with one sentence where none may take its place`()
        throws
    {
        for restarts in [0, 1000] {
            let handle = PlayProgram.Handle(), goesOn = restarts > 0
            let kills = goesOn ? TestExtent.rounds(3, full: 100) : 1
            // Slowly, so that there is always more to read; ten seconds of film hold more than the queues.
            let arguments = [
                "--sink", "headless", "--no-audio", "--sandbox", "full", "--decoder-restarts", "\(restarts)", "--stats", "-", TestAssets.demo,
            ]
            let patience = Double(TestExtent.rounds(240, full: 1200))
            let ended = PlayProgram.begin(arguments + (goesOn ? ["--loop", "--speed", "4"] : []), limit: patience + 80, handle: handle)
            let deadline = Date().addingTimeInterval(patience)
            var killed: Set<Int32> = []
            while killed.count < kills, Date() < deadline {
                guard let play = handle.processIdentifier, let demuxer = Self.child(of: play, "scanout-demuxer"), !killed.contains(demuxer),
                    Self.processorTicks(of: demuxer) != nil, TextFile.contents(of: "/proc/\(demuxer)/status")?.contains("Seccomp:\t2") == true
                else {
                    usleep(1000)
                    continue
                }
                // After it has opened the film.
                usleep(500_000)
                kill(demuxer, SIGKILL)
                killed.insert(demuxer)
            }
            #expect(killed.count == kills)
            if goesOn {
                #expect(Polling.holds(for: .seconds(3)) { handle.isRunning })
                handle.interrupt()
            }
            let outcome = try ended()
            #expect(!outcome.crashed)
            if goesOn {
                #expect(outcome.code == 0, "\(outcome.errors)")
            } else {
                #expect(outcome.code == 65)
                #expect(outcome.errors == "play: \(TestAssets.demo): the process that read it was killed by signal 9 (Killed).\n")
            }
        }
    }

    @Test func `play info says of a film what it says without a sandbox`() throws {
        for name in ["demo.mp4", "edit-list.mp4", "hdr10.mp4", "cover.m4a", "annexb.h265"] {
            let inside = try PlayProgram.run(["info", "--json", "--sandbox", "full", TestAssets.path(name)])
            let outside = try PlayProgram.run(["info", "--json", TestAssets.path(name)])
            #expect(inside.code == 0 && inside.errors.isEmpty && inside.output == outside.output, "\(name)")
        }
    }

    @Test func `a film from a pipe that is to loop ends where it cannot`() throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--untimed", "--no-audio", "--loop", "-"], input: try Data(contentsOf: URL(fileURLWithPath: TestAssets.demo)))
        #expect(outcome.code == 0 && outcome.errors == "-: cannot seek in it.\n")
    }

    /// Every twentieth film of others': all codecs and containers, in a time that a loaded machine has.
    @Test(.unsanitized, .enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `third-party films have the reference's sums`() throws {
        let catalog = try #require(MediaCatalog.shared)
        let all = catalog.films.filter { $0.frameMD5 != nil && $0.group != "malformed" && ThirdPartyFilmTests.differing[$0.path] == nil }
        let films = all.enumerated().filter { $0.offset % 20 == 7 }.map(\.element)
        #expect(films.count >= 15)
        for film in films {
            let reference = try #require(FrameMD5File(path: catalog.path(film.frameMD5!)))
            for sandbox in ["decoder", "full"] {
                let outcome = try PlayProgram.run(["--sink", "md5=-", "--sandbox", sandbox, catalog.path(film.path)])
                let ours = FrameMD5File(outcome.output)
                #expect(ours?.lines.map(\.hash) == reference.lines.map(\.hash), "\(film.path), \(sandbox)")
                #expect(ours?.lines.map(\.timestamp) == reference.lines.map(\.timestamp), "\(film.path), \(sandbox)")
            }
        }
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `damaged films end as they do without a sandbox`() throws {
        let catalog = try #require(MediaCatalog.shared)
        let films = catalog.films.filter { $0.group == "malformed" }.enumerated().filter {
            $0.offset % TestExtent.rounds(12, full: 12, sanitized: 48) == 5
        }.map(\.element)
        #expect(films.count >= TestExtent.rounds(15, full: 15, sanitized: 4))
        for film in films {
            let outside = try PlayProgram.run(["--sink", "md5=/dev/null", catalog.path(film.path)])
            for sandbox in ["decoder", "full"] {
                let outcome = try PlayProgram.run(["--sink", "md5=/dev/null", "--sandbox", sandbox, catalog.path(film.path)])
                #expect(!outcome.crashed && outcome.code == outside.code, "\(film.path), \(sandbox): \(outcome.code) \(outcome.errors)")
            }
        }
    }

    @Test func `without a decoder program it says so, or refuses`() throws {
        let arguments = ["--sink", "headless", "--untimed", "--duration", "1", TestAssets.demo]
        let nowhere = ["SCANOUT_DECODER": "/nowhere/decoder"]
        let wished = try PlayProgram.run(arguments + ["--sandbox", "decoder"], environment: nowhere)
        #expect(wished.code == 0)
        #expect(wished.errors == "Decoding without a sandbox: SCANOUT_DECODER names /nowhere/decoder, which is not a program.\n")
        let required = try PlayProgram.run(arguments + ["--sandbox", "require"], environment: nowhere)
        #expect(required.code == 69)
        #expect(required.errors.split(separator: "\n").count == 1)
    }

    @Test func `sound is decoded in a process, too, and is heard`() throws {
        let path = NSTemporaryDirectory().appending("sound-\(UUID().uuidString.prefix(8)).raw")
        defer { try? FileManager.default.removeItem(atPath: path) }
        func play(_ sandbox: String, _ film: String) throws -> (samples: [UInt8]?, statistics: [String: Any]) {
            let outcome = try PlayProgram.run(
                ["--sink", "headless", "--audio-device", "file:FILE=\(path),FORMAT=raw", "--sandbox", sandbox, "--stats", "-", film])
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            let members = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
            return (TextFile.bytes(of: path), members)
        }
        for film in [TestAssets.path("audio-only.flac"), TestAssets.demo] {
            let outside = try play("off", film), inside = try play("full", film)
            #expect(outside.statistics["soundSandbox"] is NSNull)
            #expect((inside.statistics["soundSandbox"] as? String)?.contains("seccomp") == true)
            #expect(inside.statistics["soundDecoderDeaths"] as? Int == 0)
            #expect(inside.samples?.contains { $0 != 0 } == true)
        }
    }

    @Test func `without a decoder program sound says so, and is refused where a process is required`() throws {
        let arguments = ["--sink", "headless", "--audio-device", "null", "--duration", "0.2", TestAssets.path("audio-only.flac")]
        let nowhere = ["SCANOUT_DECODER": "/nowhere/decoder"]
        let wished = try PlayProgram.run(arguments + ["--sandbox", "decoder"], environment: nowhere)
        #expect(wished.code == 0)
        #expect(wished.errors == "Decoding without a sandbox: SCANOUT_DECODER names /nowhere/decoder, which is not a program.\n")
        let required = try PlayProgram.run(arguments + ["--sandbox", "require"], environment: nowhere)
        #expect(required.code == 69 && required.errors.split(separator: "\n").count == 1, "\(required.errors)")
    }

    @Test func `killed decoders, a hundred of them with --full, do not end a film`() throws {
        var dice = Dice(seed: 100)
        let kills = TestExtent.rounds(30, full: 100, sanitized: 10)
        let play = ChildProcess(), output = Pipe()
        play.executableURL = URL(fileURLWithPath: PlayProgram.path)
        play.arguments = [
            "--sink", "headless", "--untimed", "--loop", "--sandbox", "decoder", "--decoder-restarts", "1000", "--quiet", "--stats", "-",
            TestAssets.demo,
        ]
        play.standardOutput = output
        try play.run()
        defer { if play.isRunning { play.terminate() } }
        var killed: Set<Int32> = []
        var descriptors: [Int] = []
        let deadline = Date().addingTimeInterval(Double(TestExtent.rounds(300, full: 1200)))
        while killed.count < kills, Date() < deadline, play.isRunning {
            guard let decoder = Self.decoder(of: play.processIdentifier), !killed.contains(decoder) else {
                usleep(1000)
                continue
            }
            // At some moment between its start and the decoding of some hundred frames, by its own time, whatever the machine does besides.
            let moment = Int.random(in: 0...25, using: &dice)
            while play.isRunning, let ticks = Self.processorTicks(of: decoder), ticks < moment, Date() < deadline { usleep(1000) }
            kill(decoder, SIGKILL)
            killed.insert(decoder)
            if killed.count % 10 == 0 { descriptors.append(Self.descriptorCount(of: play.processIdentifier)) }
        }
        #expect(killed.count == kills)
        #expect(play.isRunning)
        // It goes on until it is told to end.
        let goesOn = Polling.until { Self.decoder(of: play.processIdentifier).flatMap { Self.processorTicks(of: $0) }.map { $0 > 25 } ?? false }
        #expect(goesOn)
        play.interrupt()
        let statistics = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        play.waitUntilExit()
        #expect(play.terminationReason == .exit && play.terminationStatus == 0)
        // A session's surfaces, sockets and samples come and go; what grows with each death would have grown by as many as were killed.
        let most = try #require(descriptors.max()), first = try #require(descriptors.first)
        #expect(most < first + kills / 2, "\(descriptors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(statistics.utf8)) as? [String: Any])
        // The last ones may have been killed before they were given anything to decode.
        #expect(try #require(object["decoderDeaths"] as? Int) >= kills * 9 / 10)
        // With a sanitizer the processes spend much of their time on beginning.
        #expect(try #require(object["framesPresented"] as? Int) >= (TestExtent.isSanitized ? kills : kills * 10))
    }

    // Foundation leaks what it has read of a file of /proc whose process goes meanwhile; TextFile does not.

    /// The decoder process among the children of `pid`'s threads.
    static func decoder(of pid: Int32) -> Int32? { child(of: pid, "scanout-decoder") }

    private static func child(of pid: Int32, _ program: String) -> Int32? { children(of: pid, program).first }

    /// The children of `pid`'s threads that run the program of this name.
    static func children(of pid: Int32, _ program: String) -> [Int32] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return tasks.flatMap { task in
            let children = TextFile.contents(of: "/proc/\(pid)/task/\(task)/children") ?? ""
            return children.split(separator: " ").compactMap { Int32($0) }.filter { child in
                TextFile.contents(of: "/proc/\(child)/comm") == program + "\n"
            }
        }
    }

    /// Hundredths of a second that a process has computed; nil when it is gone.
    private static func processorTicks(of pid: Int32) -> Int? {
        guard let text = TextFile.contents(of: "/proc/\(pid)/stat") else { return nil }
        // After the name, which is in parentheses: 11 fields, then the user's and the system's time.
        let fields = text.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) } ?? []
        return fields.count > 11 ? fields[10] + fields[11] : nil
    }

    private static func descriptorCount(of pid: Int32) -> Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).count
    }
}
