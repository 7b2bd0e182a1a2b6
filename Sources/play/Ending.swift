internal import CEnding
internal import Glibc
internal import Media
internal import PlaySupport

/// How the program ends when something hangs (a decoder, a name server, a sound driver), or when memory or threads run out.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT ask it to end. It then ends by itself; after `patience` at the latest, or at once on a second signal, a
/// signal handler ends it, which restores the terminal and removes the socket of `--export`.
enum Ending {
    /// Milliseconds from the signal to the end by force; a clean end takes a few.
    private static let patience: Int32 = 950

    /// Begins to wait for signals and for shortages. Called once, on the main thread.
    static func prepare() {
        ending_on_signals(patience)
        unsafe ending_on_shortage("play: the system has no memory left.\n", ExitCode.system.rawValue)
        LoopThread.onRefusal { name, error in
            Terminal.write("play: the system starts no thread (\(name)): \(unsafe String(cString: strerror(error))).\n")
            ending_now(ExitCode.system.rawValue)
        }
    }

    /// Whether a signal has asked for the end.
    static var isRequested: Bool { ending_requested() != 0 }

    /// What is to be restored at an end by force: these settings of the terminal at standard input; nil: none.
    static func keep(terminal: termios?) {
        guard var settings = terminal else { return ending_keep_terminal(nil) }
        unsafe ending_keep_terminal(&settings)
    }

    /// What is to be removed at an end by force: the socket at this path; nil: none.
    static func keep(socket: String?) {
        guard let socket else { return ending_keep_socket(nil) }
        unsafe socket.withPath { unsafe ending_keep_socket($0) }
    }

    /// Ends the program at once, whatever its other threads do.
    static func now(_ code: Int32) -> Never { ending_now(code) }
}
