/// Decides what to do when the session is disabled (another console or session becomes active) and enabled again. A pure decision.
///
/// Without a seat manager the player owns the device and the console: it restores the screen, drops the DRM master and then allows the switch. A
/// seat manager has revoked the device before it sends the event, and has granted it again before it sends the next.
package struct SeatState: Sendable, Hashable {
    package enum Owner: Sendable, Hashable {
        /// The player; the kernel announces console switches.
        case player
        /// seatd or logind.
        case manager
    }

    /// An event from the kernel or the manager.
    package enum Event: Sendable, Hashable {
        /// Another console or session becomes active, once this is acknowledged.
        case disabled
        /// The player's session is active again.
        case enabled
        /// The connection to the manager is lost.
        case lost
    }

    /// Actions, performed in the order given.
    package enum Action: Sendable, Hashable {
        /// Restores what the monitor showed before.
        case restoreScreen
        case dropMaster
        /// Closes the seat's keyboards.
        case closeKeyboards
        /// Tells the kernel or the manager that the device is released.
        case acknowledge
        /// Tells the kernel that the switch back is accepted.
        case acceptSwitch
        /// Becomes the DRM master, then calls `becameMaster`.
        case becomeMaster
        case openKeyboards
        /// Ends the sink with an error.
        case fail
    }

    package let owner: Owner
    /// Whether the session is active, so that frames may be shown.
    package private(set) var isActive = true

    package init(owner: Owner) { self.owner = owner }

    package mutating func handle(_ event: Event) -> [Action] {
        let wasActive = isActive
        switch (event, owner) {
        case (.disabled, .player):
            isActive = false
            // Every event is acknowledged, but only the first finds the device in use.
            return wasActive ? [.restoreScreen, .dropMaster, .acknowledge] : [.acknowledge]
        case (.disabled, .manager):
            isActive = false
            return wasActive ? [.closeKeyboards, .acknowledge] : [.acknowledge]
        case (.enabled, .player):
            isActive = true
            return [.acceptSwitch, .becomeMaster]
        case (.enabled, .manager):
            isActive = true
            // The event that follows the opening of the seat changes nothing.
            return wasActive ? [] : [.becomeMaster, .openKeyboards]
        case (.lost, .player): return []
        case (.lost, .manager): return [.fail]
        }
    }

    /// The result of `becomeMaster`. Under a manager a failure has no effect: the manager may grant the right a moment after the event, and commits
    /// are tried again.
    package mutating func becameMaster(_ isMaster: Bool) {
        if owner == .player, !isMaster { isActive = false }
    }
}
