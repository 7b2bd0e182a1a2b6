/// Whose turn it is on the monitor, and what is to be done when that changes. A pure decision.
///
/// Without a seat manager the player holds the device and its console itself: it puts back what it found, gives the device up and then lets
/// the kernel switch. Under one the manager has taken the device away before it says so, and gives it back before it says that too.
package struct SeatState: Sendable, Hashable {
    package enum Keeper: Sendable, Hashable {
        /// The player itself, told by the kernel of switches between consoles.
        case player
        /// seatd or logind.
        case manager
    }

    /// What is heard from the kernel or the manager.
    package enum News: Sendable, Hashable {
        /// Another console or session is to be shown; an answer is waited for.
        case away
        /// The monitor is ours again.
        case back
        /// The manager is no more.
        case gone
    }

    /// To be done in the order given.
    package enum Step: Sendable, Hashable {
        /// The picture that was found on the monitor is shown again.
        case putBack
        case dropMaster
        /// The manager's keyboards are of no use any more.
        case closeKeyboards
        /// Tells the kernel or the manager that the monitor is given up.
        case letGo
        /// Tells the kernel that the monitor is taken back.
        case take
        /// Becomes the device's master; `masterIsHad` is told how that went.
        case claim
        case openKeyboards
        /// Nothing can be shown any more, nor told by whom.
        case fail
    }

    package let keeper: Keeper
    /// Whether pictures may be put on the monitor.
    package private(set) var isOurs = true

    package init(keeper: Keeper) { self.keeper = keeper }

    package mutating func hear(_ news: News) -> [Step] {
        let wasOurs = isOurs
        switch (news, keeper) {
        case (.away, .player):
            isOurs = false
            // Each announcement is answered, the first alone finds something on the monitor.
            return wasOurs ? [.putBack, .dropMaster, .letGo] : [.letGo]
        case (.away, .manager):
            isOurs = false
            return wasOurs ? [.closeKeyboards, .letGo] : [.letGo]
        case (.back, .player):
            isOurs = true
            return [.take, .claim]
        case (.back, .manager):
            isOurs = true
            // The first news of all finds nothing changed.
            return wasOurs ? [] : [.claim, .openKeyboards]
        case (.gone, .player): return []
        case (.gone, .manager): return [.fail]
        }
    }

    /// How a `claim` went. A manager gives the right to commit a moment after it has said so at the latest: commits are tried again.
    package mutating func masterIsHad(_ isHad: Bool) {
        if keeper == .player, !isHad { isOurs = false }
    }
}
