internal import Glibc
internal import JSON
internal import Media
internal import PlaySupport
internal import Player

/// What `--stats` writes: an object for one film, an array with an object for each film of a list. A list's objects are written one by one, so that
/// a list may have any length.
///
/// Thread-safety: all of it.
final class StatisticsFile: Sendable {
    private let path: String
    private let isList: Bool
    private let state = Monitor(State())

    private struct State: ~Copyable, Sendable {
        var file: OwnedFD?
        var count = 0
        var isClosed = false
    }

    /// - Parameters:
    ///   - path: nil writes nothing; `-` is standard output.
    ///   - isList: whether an array is written.
    init?(path: String?, isList: Bool) {
        guard let path else { return nil }
        self.path = path
        self.isList = isList
    }

    /// Writes what a film has done. The file is created with the first one. For one film alone only the first call counts.
    func add(_ statistics: PlaybackStatistics) throws(PlayerError) {
        try state.withLock { state throws(PlayerError) in
            guard !state.isClosed else { return }
            let text = statistics.json.prettyText
            if isList {
                let lines = text.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
                try write((state.count == 0 ? "[\n" : ",\n") + lines, &state)
                state.count += 1
            } else {
                state.isClosed = true
                try write(text + "\n", &state)
                try close(&state)
            }
        }
    }

    /// Ends the array. Nothing follows.
    func finish() throws(PlayerError) {
        try state.withLock { state throws(PlayerError) in
            guard !state.isClosed else { return }
            state.isClosed = true
            try write(state.count == 0 ? "[]\n" : "\n]\n", &state)
            try close(&state)
        }
    }

    private func write(_ text: String, _ state: inout State) throws(PlayerError) {
        let wasClosed = state.isClosed
        // After a failure nothing follows.
        state.isClosed = true
        if path == "-" {
            try StandardOutput.write(text)
        } else {
            let kept = state.file.take()
            let file: OwnedFD
            if let kept { file = kept } else { file = try open() }
            do throws(SystemError) { try writeWhole(Array(text.utf8), to: file.rawValue) } catch { throw cannotWrite(error.code) }
            state.file = consume file
        }
        state.isClosed = wasClosed
    }

    private func open() throws(PlayerError) -> OwnedFD {
        let fd = unsafe path.withPath { unsafe Glibc.open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard fd >= 0 else { throw PlayerError(.cannotCreate, "\(path): cannot write statistics: \(unsafe String(cString: strerror(errno))).") }
        return OwnedFD(adopting: fd)
    }

    /// Some file systems say only now that there is no room.
    private func close(_ state: inout State) throws(PlayerError) {
        guard let file = state.file.take() else { return }
        guard Glibc.close(file.take()) == 0 else { throw cannotWrite(errno) }
    }

    private func cannotWrite(_ status: Int32) -> PlayerError {
        PlayerError(.cannotWrite, "\(path): cannot write statistics: \(unsafe String(cString: strerror(status))).")
    }
}
