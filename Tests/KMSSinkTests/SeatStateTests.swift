import DisplaySink
import KMSSink
import Testing

@Suite struct SeatStateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var owner: SeatState.Owner
        /// What is heard, one after another; with nil a claim fails.
        var news: [SeatState.Event?]
        /// What the last of them asks for.
        var steps: [SeatState.Action]
        var isActive: Bool
        var testDescription: String { "\(owner): \(news)" }
    }

    static let rows = [
        Row(owner: .player, news: [.disabled], steps: [.restoreScreen, .dropMaster, .acknowledge], isActive: false),
        Row(owner: .player, news: [.disabled, .enabled], steps: [.acceptSwitch, .becomeMaster], isActive: true),
        Row(owner: .player, news: [.disabled, .disabled], steps: [.acknowledge], isActive: false),
        // There and back before anybody looked: the last announcement alone is heard.
        Row(owner: .player, news: [.enabled], steps: [.acceptSwitch, .becomeMaster], isActive: true),
        // Another program took the device meanwhile.
        Row(owner: .player, news: [.disabled, .enabled, nil], steps: [], isActive: false),
        Row(owner: .player, news: [.disabled, .enabled, nil, .disabled], steps: [.acknowledge], isActive: false),
        Row(owner: .player, news: [.disabled, .enabled, nil, .enabled], steps: [.acceptSwitch, .becomeMaster], isActive: true),
        Row(owner: .player, news: [.lost], steps: [], isActive: true),
        // The device is gone already: there is nothing to put back.
        Row(owner: .manager, news: [.disabled], steps: [.closeKeyboards, .acknowledge], isActive: false),
        Row(owner: .manager, news: [.disabled, .enabled], steps: [.becomeMaster, .openKeyboards], isActive: true),
        Row(owner: .manager, news: [.disabled, .enabled, nil], steps: [], isActive: true),
        Row(owner: .manager, news: [.enabled], steps: [], isActive: true),
        Row(owner: .manager, news: [.disabled, .disabled], steps: [.acknowledge], isActive: false),
        Row(owner: .manager, news: [.lost], steps: [.fail], isActive: true),
        Row(owner: .manager, news: [.disabled, .lost], steps: [.fail], isActive: false),
    ]

    @Test(arguments: rows) func `whose turn it is, and what is due`(row: Row) {
        var state = SeatState(owner: row.owner), steps: [SeatState.Action] = []
        for news in row.news {
            steps = []
            if let news { steps = state.handle(news) } else { state.becameMaster(false) }
        }
        #expect(steps == row.steps)
        #expect(state.isActive == row.isActive)
    }

    /// A manager takes an answer that it did not ask for as an error.
    @Test func `each leave is answered once`() {
        for owner in [SeatState.Owner.player, .manager] {
            var state = SeatState(owner: owner), answers = 0
            for _ in 0..<3 {
                answers += state.handle(.disabled).filter { $0 == .acknowledge }.count
                answers += state.handle(.enabled).filter { $0 == .acknowledge }.count
            }
            #expect(answers == 3)
        }
    }
}
