import Foundation
import Media
import TestSupport
import Testing

/// Whatever the program does or waits for, SIGTERM ends it soon, and without a crash.
@Suite(.serialized, .unsanitized) struct EndingStatesTests {
    enum State: String, CaseIterable, Sendable {
        case starting, paused, untimed, stoppedDecoder, stoppedDemuxer, stoppedSound, silentServer, silentFile, frozenDisplay
        case converting, convertingWithStoppedDecoder, convertingFromSilentServer, copyingFromSilentServer

        /// What the program is asked to do; `FILM` never says a word, `OUTPUT` may be written.
        var arguments: [String] {
            let film = TestAssets.demo, headless = ["--sink", "headless", "--loop", "--stats", "-"]
            return switch self {
            case .starting, .stoppedDemuxer: headless + ["--no-audio", "--sandbox", "full", film]
            case .paused: headless + ["--audio-device", "null", "--pause", film]
            case .untimed: headless + ["--untimed", "--no-audio", film]
            case .stoppedDecoder: headless + ["--no-audio", "--sandbox", "decoder", film]
            case .stoppedSound: headless + ["--audio-device", "null", "--sandbox", "decoder", TestAssets.path("audio-only.flac")]
            case .silentServer, .silentFile: headless + ["--no-audio", "FILM"]
            case .frozenDisplay: ["--no-audio", "--loop", "--stats", "-", film]
            case .converting: ["convert", "--overwrite", film, "OUTPUT"]
            case .convertingFromSilentServer: ["convert", "--overwrite", "FILM", "OUTPUT"]
            case .copyingFromSilentServer: ["convert", "--overwrite", "--copy", "FILM", "OUTPUT"]
            case .convertingWithStoppedDecoder: ["convert", "--overwrite", "--sandbox", "decoder", film, "OUTPUT"]
            }
        }

        /// How it may end.
        var codes: [Int32] {
            switch self {
            case .convertingFromSilentServer, .copyingFromSilentServer: [66]
            // A busy machine may be opening the film still.
            case .converting, .convertingWithStoppedDecoder: [0, 65, 66, 75]
            default: [0, 65, 75]
            }
        }

        /// The programs among its children that are stopped.
        var stopped: String? {
            switch self {
            case .stoppedDecoder, .stoppedSound, .convertingWithStoppedDecoder: "scanout-decoder"
            case .stoppedDemuxer: "scanout-demuxer"
            default: nil
            }
        }
    }

    @Test(arguments: State.allCases) func `SIGTERM ends it`(_ state: State) throws {
        let silent = SilentSource(state == .silentFile ? .fifo : .server), weston = state == .frozenDisplay ? try PrivateWeston() : nil
        let output = "/tmp/ending-\(UUID().uuidString.prefix(8)).mkv", handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: output) }
        let words = state.arguments.map { $0 == "FILM" ? silent.location : $0 == "OUTPUT" ? output : $0 }
        let ended = PlayProgram.begin(words, environment: weston.map { ["WAYLAND_DISPLAY": $0.display] } ?? [:], limit: 100, handle: handle)
        try #require(Polling.until { handle.isRunning })
        if let name = state.stopped {
            // One that is confined has begun its work.
            let children = Polling.first(every: .milliseconds(10)) {
                let found = handle.processIdentifier.map { SandboxTests.children(of: $0, name) } ?? []
                return found.contains { TextFile.contents(of: "/proc/\($0)/status")?.contains("Seccomp:\t2") == true } ? found : nil
            }
            usleep(300_000)
            for child in try #require(children) { kill(child, SIGSTOP) }
            usleep(300_000)
        } else if state != .starting {
            _ = Polling.holds(for: .seconds(1)) { handle.isRunning }
        }
        weston?.freeze(true)
        if weston != nil { _ = Polling.holds(for: .seconds(1)) { handle.isRunning } }
        let told = Date()
        handle.send(SIGTERM)
        let outcome = try ended()
        let seconds = Date().timeIntervalSince(told)
        // Ten times what is promised: a busy machine.
        #expect(seconds < 10, "\(state)")
        weston?.freeze(false)
        #expect(!outcome.crashed && state.codes.contains(outcome.code), "\(outcome)")
        // Nothing was read, so there is no film.
        #expect(outcome.code != 66 || !FileManager.default.fileExists(atPath: output))
        // After a second it ends without them: a busy machine.
        #expect(!words.contains("--stats") || seconds > 1 || outcome.output.contains("\"framesPresented\""), "\(outcome)")
    }
}
