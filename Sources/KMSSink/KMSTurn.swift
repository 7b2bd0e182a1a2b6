internal import DisplaySink
internal import Media

/// The sink's dealings with those who share the monitor and the keyboard with it: other consoles, and other sessions of its seat.
///
/// Thread-safety: belongs to the device's thread.
final class KMSTurn {
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
        state = SeatState(keeper: seat == nil ? .player : .manager)
    }

    /// Whether pictures may be put on the monitor.
    var isOurs: Bool { state.isOurs }

    /// Readable when there is news.
    var newsFD: Int32 { seat?.fd ?? console.switchFD }
    /// Readable when a key was pressed: on a terminal, on the seat's keyboards.
    var keyFDs: [Int32] { [console.keyFD, keyboards?.fd ?? -1] }

    /// Does what others want.
    ///
    /// - Parameters:
    ///   - isGone: The other end of `newsFD` has been closed.
    ///   - leave: Ends showing, before the monitor is given up.
    /// Throws `.lost` when nobody can say any more whose turn it is.
    func look(isGone: Bool, leave: () -> Void) throws(SinkError) {
        for news in seat?.takeNews(isGone: isGone || newsFD < 0) ?? console.switched().map({ [$0] }) ?? [] {
            let steps = state.hear(news)
            if !state.isOurs { leave() }
            for step in steps { try take(step) }
        }
    }

    private func take(_ step: SeatState.Step) throws(SinkError) {
        switch step {
        // The kernel draws a text console's picture again only for those who had switched to graphics mode.
        case .putBack: monitors.restore()
        case .dropMaster: monitors.device.dropMaster()
        case .closeKeyboards: keyboards?.closeAll()
        case .letGo: if let seat { seat.letGo() } else { console.yield() }
        case .take: console.accept()
        case .claim: state.masterIsHad(monitors.device.becomeMaster())
        case .openKeyboards: keyboards?.openAll()
        case .fail: throw SinkError(.lost, "The seat manager (\(seat?.manager ?? "?")), which gave the player its monitor, is gone.")
        }
    }

    /// What was pressed; a wish for another console is passed on.
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
