/// What `play` tells the shell, after `sysexits.h`.
public enum ExitCode: Int32, Sendable {
    /// Played to the end, or ended because the viewer said so (q, a closed window, SIGINT, SIGTERM).
    case played = 0
    /// EX_USAGE: the options make no sense.
    case usage = 64
    /// EX_DATAERR: nothing playable in it, or damaged beyond playing.
    case data = 65
    /// EX_NOINPUT: it cannot be opened.
    case noInput = 66
    /// EX_UNAVAILABLE: no display, or the device is gone.
    case unavailable = 69
    /// EX_SOFTWARE: a fault of the player's own.
    case software = 70
    /// EX_CANTCREAT: a file to be written (statistics, checksums) cannot be.
    case cannotCreate = 73
}
