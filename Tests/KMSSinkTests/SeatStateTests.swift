import DisplaySink
import KMSSink
import Testing

@Suite struct SeatStateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var keeper: SeatState.Keeper
        /// What is heard, one after another; with nil a claim fails.
        var news: [SeatState.News?]
        /// What the last of them asks for.
        var steps: [SeatState.Step]
        var isOurs: Bool
        var testDescription: String { "\(keeper): \(news)" }
    }

    static let rows = [
        Row(keeper: .player, news: [.away], steps: [.putBack, .dropMaster, .letGo], isOurs: false),
        Row(keeper: .player, news: [.away, .back], steps: [.take, .claim], isOurs: true),
        Row(keeper: .player, news: [.away, .away], steps: [.letGo], isOurs: false),
        // There and back before anybody looked: the last announcement alone is heard.
        Row(keeper: .player, news: [.back], steps: [.take, .claim], isOurs: true),
        // Another program took the device meanwhile.
        Row(keeper: .player, news: [.away, .back, nil], steps: [], isOurs: false),
        Row(keeper: .player, news: [.away, .back, nil, .away], steps: [.letGo], isOurs: false),
        Row(keeper: .player, news: [.away, .back, nil, .back], steps: [.take, .claim], isOurs: true),
        Row(keeper: .player, news: [.gone], steps: [], isOurs: true),
        // The device is gone already: there is nothing to put back.
        Row(keeper: .manager, news: [.away], steps: [.closeKeyboards, .letGo], isOurs: false),
        Row(keeper: .manager, news: [.away, .back], steps: [.claim, .openKeyboards], isOurs: true),
        Row(keeper: .manager, news: [.away, .back, nil], steps: [], isOurs: true),
        Row(keeper: .manager, news: [.back], steps: [], isOurs: true),
        Row(keeper: .manager, news: [.away, .away], steps: [.letGo], isOurs: false),
        Row(keeper: .manager, news: [.gone], steps: [.fail], isOurs: true),
        Row(keeper: .manager, news: [.away, .gone], steps: [.fail], isOurs: false),
    ]

    @Test(arguments: rows) func `whose turn it is, and what is due`(row: Row) {
        var state = SeatState(keeper: row.keeper), steps: [SeatState.Step] = []
        for news in row.news {
            steps = []
            if let news { steps = state.hear(news) } else { state.masterIsHad(false) }
        }
        #expect(steps == row.steps)
        #expect(state.isOurs == row.isOurs)
    }

    /// A manager takes an answer that it did not ask for as an error.
    @Test func `each leave is answered once`() {
        for keeper in [SeatState.Keeper.player, .manager] {
            var state = SeatState(keeper: keeper), answers = 0
            for _ in 0..<3 {
                answers += state.hear(.away).filter { $0 == .letGo }.count
                answers += state.hear(.back).filter { $0 == .letGo }.count
            }
            #expect(answers == 3)
        }
    }
}
