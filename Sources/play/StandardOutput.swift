internal import Glibc
internal import Media
internal import Player

/// Standard output, where reports and statistics go: whole, or with an error.
enum StandardOutput {
    /// Writes `text`. Throws `cannotWrite` when the disk is full or the pipe is closed.
    static func write(_ text: String) throws(PlayerError) {
        do throws(SystemError) {
            try writeWhole(Array(text.utf8), to: STDOUT_FILENO)
        } catch {
            throw PlayerError(.cannotWrite, "standard output: cannot write: \(unsafe String(cString: strerror(error.code))).")
        }
    }
}
