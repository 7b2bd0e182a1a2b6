internal import Media

/// Several threads that do the same at once, so that what waits for a deadline holds up no other.
public enum Lanes {
    /// Calls `body` with the numbers below `count`, each on a thread of its own, and waits for all of them.
    public static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let threads = (0..<count).map { number in LoopThread(name: "lane") { body(number) } }
        for thread in threads { thread.join() }
    }
}
