internal import Dispatch
internal import Glibc

/// Turns SIGINT and SIGTERM into a request to end, made on a queue instead of in a signal handler.
///
/// Even when something hangs (a name server, a sound driver) the program ends: after `patience` at the latest, at once on a second signal.
final class Signals {
    private let sources: [any DispatchSourceSignal]

    /// Milliseconds from the signal to the end by force; a clean end takes a few.
    private static let patience = 900

    /// - Parameters:
    ///   - onEnd: asks the program to end.
    ///   - onPatienceLost: the last chance to tidy up before the end by force.
    init(onEnd: @escaping @Sendable () -> Void, onPatienceLost: @escaping @Sendable () -> Void) {
        // Writing to a closed pipe is an error to report, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "play.signals")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                signal(number, SIG_DFL)
                onEnd()
                queue.asyncAfter(deadline: .now() + .milliseconds(Self.patience)) {
                    onPatienceLost()
                    _exit(0)
                }
            }
            source.resume()
            return source
        }
    }

    /// Restores the default meaning of the signals.
    func stop() { for source in sources { source.cancel() } }
}
