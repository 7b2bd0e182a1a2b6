internal import Glibc
internal import Media
internal import PlaySupport
internal import Player

/// Writes statistics where `--stats` points.
enum StatisticsFile {
    static func write(_ statistics: PlaybackStatistics, to path: String) throws(PlayerError) {
        let text = statistics.json.prettyText + "\n"
        if path == "-" { return try StandardOutput.write(text) }
        let fd = unsafe path.withPath { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard fd >= 0 else {
            throw PlayerError(.cannotCreate, "\(path): cannot write statistics: \(unsafe String(cString: strerror(errno))).")
        }
        do throws(SystemError) {
            try writeWhole(Array(text.utf8), to: fd)
            // Some file systems say only now that there is no room.
            guard close(fd) == 0 else { throw SystemError(errno, "write") }
        } catch {
            throw PlayerError(.cannotWrite, "\(path): cannot write statistics: \(unsafe String(cString: strerror(error.code))).")
        }
    }
}
