/// What all players of this process do and find, as sentences for a program's log.
///
///     Log.setHandler(upTo: .info) { level, text in print(level, text) }
///
/// The same sentences come as `PlayerEvent`s to whoever listens to one player; here are those of all, without listening to any. Nothing is written
/// while there is no handler.
public enum Log {
    /// How much a sentence matters; a handler gets those up to a level.
    public enum Level: UInt8, Sendable, Comparable, CaseIterable {
        /// An opening, or playback, has failed.
        case error = 1
        /// It goes on, and something is not as it should be: what `PlayerEvent.notice` says.
        case warning = 2
        /// What was chosen and why: what `PlayerEvent.detail` says.
        case info = 3
        /// Each change of a player's state, and each seek.
        case debug = 4

        /// By what they matter: an error comes first.
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    private struct State: Sendable {
        var limit: Level?
        var handler: Call?
        var running = 0
    }

    private struct Call: Sendable { let body: @Sendable (Level, String) -> Void }

    private static let state = Monitor(State())

    /// Calls `body` for each sentence up to `level`; it replaces the handler before, and nil removes it.
    ///
    /// `body` runs on a thread of the library, with no lock held: the sentences of one player one after the other, in their order, those of several
    /// players at the same time. It may call anything but this function, and should return soon, as the player's events wait for it. When this
    /// returns, the handler before is not running any more.
    public static func setHandler(upTo level: Level = .info, _ body: (@Sendable (Level, String) -> Void)?) {
        state.withLock { state in
            state.handler = body.map(Call.init)
            state.limit = body == nil ? nil : level
        }
        let _: Void? = state.wait { $0.running == 0 ? () : nil }
    }

    /// Passes a sentence on, if somebody wants those of its level.
    package static func write(_ level: Level, _ text: @autoclosure () -> String) {
        let call: Call? = state.withLock { state in
            guard let limit = state.limit, level <= limit else { return nil }
            state.running += 1
            return state.handler
        }
        guard let call else { return }
        call.body(level, text())
        state.change { $0.running -= 1 }
    }
}
