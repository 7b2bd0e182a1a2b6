internal import DisplaySink
internal import Media

/// Handles switches to other consoles and sessions, and the keys of the console or seat.
///
/// Thread-safety: belongs to the device's thread.
final class VTSwitching {
    private let monitors: KMSMonitors
    private let console: Console
    private let keyboards: SeatKeyboards?
    private var state: SeatState
    private var seat: Seat? { monitors.device.seat }

    init(_ monitors: KMSMonitors) {
        self.monitors = monitors
        let seat = monitors.device.seat
        console = Console(isSwitched: seat == nil)
        keyboards = seat.map { SeatKeyboards($0) }
        state = SeatState(owner: seat == nil ? .player : .manager)
    }

    /// Whether the session is active, so that frames may be shown.
    var isActive: Bool { state.isActive }

    /// Readable when an event has come.
    var eventFD: Int32 { seat?.fd ?? console.switchFD }
    /// Readable when a key was pressed on the terminal or on the seat's keyboards.
    var keyFDs: [Int32] { [console.keyFD, keyboards?.fd ?? -1] }

    /// Handles the events that have come.
    ///
    /// - Parameters:
    ///   - isGone: The other end of `eventFD` was closed.
    ///   - leave: Stops showing frames, before the device is released.
    /// Throws `.lost` when the connection to the manager is lost.
    func handleEvents(isGone: Bool, leave: () -> Void) throws(SinkError) {
        for event in seat?.takeEvents(isGone: isGone || eventFD < 0) ?? console.switched().map({ [$0] }) ?? [] {
            let actions = state.handle(event)
            if !state.isActive { leave() }
            for action in actions { try perform(action) }
        }
    }

    private func perform(_ action: SeatState.Action) throws(SinkError) {
        switch action {
        // The kernel redraws the text console only after graphics mode.
        case .restoreScreen: monitors.restore()
        case .dropMaster: monitors.device.dropMaster()
        case .closeKeyboards: keyboards?.closeAll()
        case .acknowledge: if let seat { seat.acknowledgeDisable() } else { console.yield() }
        case .acceptSwitch: console.accept()
        case .becomeMaster: state.becameMaster(monitors.device.becomeMaster())
        case .openKeyboards: keyboards?.openAll()
        case .fail: throw SinkError(.lost, "The connection to the seat manager (\(seat?.manager ?? "?")) is lost, and with it the monitor.")
        }
    }

    /// The keys that were pressed. Requests to switch consoles go to the seat manager.
    func keys() -> [PlayerKey] {
        var keys = console.keys()
        for press in keyboards?.presses() ?? [] {
            switch press {
            case .key(let key): keys.append(key)
            case .console(let number): seat?.show(session: number)
            }
        }
        return keys
    }
}
