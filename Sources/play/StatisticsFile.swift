internal import Glibc
internal import PlaySupport
internal import Player

/// Writes statistics where `--stats` points.
enum StatisticsFile {
    static func write(_ statistics: PlaybackStatistics, to path: String) throws(PlayerError) {
        let text = statistics.json.prettyText + "\n"
        if path == "-" { return Terminal.write(text, to: STDOUT_FILENO) }
        let fd = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard fd >= 0 else {
            throw PlayerError(.cannotCreate, "\(path): cannot write statistics: \(unsafe String(cString: strerror(errno))).")
        }
        Terminal.write(text, to: fd)
        close(fd)
    }
}
