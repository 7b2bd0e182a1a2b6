internal import Dispatch
internal import Glibc

/// SIGINT and SIGTERM as a request to end, made on a queue instead of in a signal handler.
///
/// A second signal ends the process at once: whoever presses Ctrl-C twice means it.
final class Signals {
    private let sources: [any DispatchSourceSignal]

    init(onEnd: @escaping @Sendable () -> Void) {
        // Writing to a closed pipe is an error to report, not a death.
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "play.signals")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                signal(number, SIG_DFL)
                onEnd()
            }
            source.resume()
            return source
        }
    }
}
