internal import DisplaySink
internal import Glibc
internal import Media
internal import PlaySupport
internal import Player
internal import Reading
internal import Recording

/// What a person at the terminal or the preview's window orders of a recording, and what they are told.
///
/// Thread-safety: `press` and `say` from any thread, the rest from the command's.
final class RecordingDesk: Sendable {
    private let output: String
    private let isQuiet: Bool
    private let state = Monitor(State())

    private struct State: Sendable {
        var keys: [PlayerKey] = []
        var sentences: [String] = []
        var isOver = false
        var markers = 0
        /// Still frames that are on their way.
        var stills = 0
    }

    /// 10 s: writing a frame as PNG takes a tenth of a second.
    private static let patience = HostSpan.seconds(10)

    /// - Parameter output: The film, beside which still frames are written.
    init(_ output: String, isQuiet: Bool) {
        self.output = output
        self.isQuiet = isQuiet
    }

    func press(_ key: PlayerKey) { state.change { $0.keys.append(key) } }

    /// Says something as soon as the status line makes room.
    func say(_ sentence: String) { state.change { if !isQuiet { $0.sentences.append(sentence) } } }

    /// What is to be said.
    func sentences() -> [String] {
        state.withLock { state in
            defer { state.sentences = [] }
            return state.sentences
        }
    }

    /// Whether somebody has ended the recording.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Carries out what was ordered.
    func obey(_ recording: DeviceRecording, _ preview: Player?) {
        let keys = state.withLock { state in
            defer { state.keys = [] }
            return state.keys
        }
        for key in keys {
            switch key {
            case .space: if recording.movie.isPausing { recording.movie.resume() } else { recording.movie.pause() }
            case PlayerKey("s"): if let stills = recording.stills { take(stills) }
            case PlayerKey("m"):
                let number = state.withLock { state in
                    state.markers += 1
                    return state.markers
                }
                recording.movie.add([MetadataItem("marker", String(number))])
            case PlayerKey("p"): preview?.togglePlaying()
            case .q, .escape: state.change { $0.isOver = true }
            default: break
            }
        }
    }

    private func take(_ stills: StillFrameOutput) {
        state.change { $0.stills += 1 }
        stills.capture { [self] result in
            switch result {
            case .failure(.ended): break
            case .failure(.encoding(let error)): say("There is no still frame: \(error.description).")
            case .success(let still):
                do throws(PlayerError) {
                    let path = freePath()
                    try FrameExtraction.write(still.bytes, to: path)
                    say("\(path): \(still.size) still frame.")
                } catch { say(error.description) }
            }
            state.change { $0.stills -= 1 }
        }
    }

    /// Waits until ordered still frames are written; those of a camera that has ended are given up.
    func waitForStills() {
        let _: Void? = state.wait(until: MonotonicClock.shared.now() + Self.patience) { $0.stills == 0 ? () : nil }
    }

    /// `visit-0001.png` beside `visit.mp4`: the first of which there is no file.
    private func freePath() -> String {
        let name = output.lastIndex(of: "/").map { output[output.index(after: $0)...] } ?? output[...]
        let stem = name.lastIndex(of: ".").map { String(output[..<$0]) } ?? output
        var number = 1
        while true {
            let digits = String(number), path = "\(stem)-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits).png"
            if unsafe path.withPath({ unsafe access($0, F_OK) }) != 0 { return path }
            number += 1
        }
    }
}
