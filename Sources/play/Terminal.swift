internal import Glibc
internal import Media
internal import PlaySupport

/// Standard error as a person sees it: whole lines, and one status line below them that is redrawn in place.
///
/// Thread-safety: one thread at a time, but for `restore`.
final class Terminal: @unchecked Sendable {
    let isInteractive = isatty(STDERR_FILENO) == 1
    private var drawn = ""

    /// Writes a line above the status line.
    func line(_ text: String) {
        erase()
        Self.write(text.printable + "\n")
    }

    /// Draws the status line, when standard error is a terminal and the line changed.
    func status(_ line: StatusLine) { status(line.text(columns:)) }

    /// The same for another line; `text` gets the columns that it may take.
    func status(_ text: (Int) -> String) {
        guard isInteractive else { return }
        let text = text(Self.columns - 1)
        guard text != drawn else { return }
        Self.write("\r\u{1b}[2K" + text)
        drawn = text
    }

    /// Removes the status line.
    func erase() {
        guard !drawn.isEmpty else { return }
        Self.write("\r\u{1b}[2K")
        drawn = ""
    }

    /// Leaves the terminal with the cursor on a new line. From any thread.
    func restore() { if isInteractive { Self.write("\n") } }

    /// Ends the status line and leaves it on the screen.
    func keepStatus() {
        guard !drawn.isEmpty else { return }
        Self.write("\n")
        drawn = ""
    }

    /// Writes to standard error. Where that fails, there is nobody to tell.
    static func write(_ text: String) { try? writeWhole(Array(text.utf8), to: STDERR_FILENO) }

    private static var columns: Int {
        var size = winsize()
        return unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
