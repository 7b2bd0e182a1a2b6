internal import CEnding
internal import Glibc
internal import Media
internal import PlaySupport

/// How the program ends when something hangs (a decoder, a name server, a sound driver), or when memory or threads run out.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT ask it to end. It then ends by itself; after `patience` at the latest, or at once on a second signal, a
/// signal handler ends it, which restores the terminal and removes the socket of `--export`. Signals within a tenth of a second are one.
enum Ending {
    /// Milliseconds from the signal to the end by force; a clean end takes a few.
    private static let patience: Int32 = 950

    /// Begins to say what the system refuses. Called once, on the main thread, before `awaitSignals`.
    static func explainShortages() {
        unsafe ending_on_shortage(
            "\(ProgramName.current): the system has no memory left.\n",
            "\(ProgramName.current): the system has no descriptor left: Too many open files.\n", ExitCode.system.rawValue)
        LoopThread.onRefusal { name, error in
            claim(ExitCode.system.rawValue)
            Terminal.write("\(ProgramName.current): the system starts no thread (\(name)): \(unsafe String(cString: strerror(error))).\n")
            ending_now(ExitCode.system.rawValue)
        }
        // A file that may not grow is an error to report, not a reason to die.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Begins to take signals as requests to end. Called once, on the main thread.
    /// - Parameter patience: Milliseconds from the signal to the end by force; nil: as long as an end takes that writes nothing.
    static func awaitSignals(patience: Int32? = nil) { ending_on_signals(patience ?? Self.patience) }

    /// Sleeps until a signal asks for the end, until `wake` is called, or until `deadline`; nil waits for ever. May return early. One thread only.
    static func wait(until deadline: HostTime?) { ending_wait(deadline?.nanoseconds ?? -1) }

    /// Ends `wait`, or the next one. From any thread.
    static func wake() { ending_wake() }

    /// For a thread that is about to say why the program ends with this code, so that of several failures at once only one is said: does not return
    /// where another thread does so already.
    static func claim(_ code: Int32) {
        if ending_claim(code) != 0 { return }
        while true { pause() }
    }

    /// Whether a signal has asked for the end.
    static var isRequested: Bool { ending_requested() != 0 }

    /// What is to be restored at an end by force: these settings of the terminal; nil: none.
    static func keep(terminal: termios?, at descriptor: Int32 = STDIN_FILENO) {
        guard var settings = terminal else { return ending_keep_terminal(descriptor, nil) }
        unsafe ending_keep_terminal(descriptor, &settings)
    }

    /// A socket of the program.
    enum Socket: Int32 { case frames, remote }

    /// What is to be removed at an end by force: the socket at this path; nil: none.
    static func keep(_ socket: Socket, at path: String?) {
        guard let path else { return ending_keep_socket(socket.rawValue, nil) }
        unsafe path.withPath { unsafe ending_keep_socket(socket.rawValue, $0) }
    }

    /// Ends the program at once, whatever its other threads do.
    static func now(_ code: Int32) -> Never { ending_now(code) }
}
