import Media
import PlaySupport
import Player
import Testing

/// Whether a film moves, by readings of its clock and its frames.
@Suite struct MotionWatchTests {
    /// A reading at a time, in seconds: the clock's position (nil: it is not to run), frames taken, whether one is due.
    struct Step {
        var at: Double
        var position: Double?
        var taken = 0
        var isDue = true
        var isExpected = true

        var motion: PlaybackMotion {
            let place = MediaTime(seconds: position ?? 7)
            return PlaybackMotion(isExpected: isExpected, clockRuns: position != nil, position: place, framesTaken: taken, isFrameDue: isDue)
        }
    }

    struct Row: CustomTestStringConvertible {
        var name: String
        var steps: [Step?]
        var moves: Bool
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "frames follow each other", steps: [Step(at: 0, position: 0, taken: 1), Step(at: 9, position: 9, taken: 2)], moves: true),
        Row(name: "no frame for as long as is allowed", steps: [Step(at: 0, position: 0), Step(at: 5, position: 5)], moves: true),
        Row(name: "no frame, and one is due", steps: [Step(at: 0, position: 0), Step(at: 5.1, position: 5.1)], moves: false),
        Row(name: "no frame, and none is due", steps: [Step(at: 0, position: 0), Step(at: 60, position: 60, isDue: false)], moves: true),
        Row(
            name: "due only since the last reading",
            steps: [Step(at: 0, position: 0), Step(at: 60, position: 60, isDue: false), Step(at: 64, position: 64)], moves: true),
        Row(name: "the next film counts anew", steps: [Step(at: 0, position: 9, taken: 99), Step(at: 9, position: 0, taken: 0)], moves: true),
        Row(name: "the clock stands", steps: [Step(at: 0, position: 3, taken: 1), Step(at: 6, position: 3, taken: 2, isDue: false)], moves: false),
        Row(name: "the first frame does not come", steps: [Step(at: 0), Step(at: 6)], moves: false),
        Row(name: "nothing to make a first frame of", steps: [Step(at: 0), Step(at: 6, isDue: false)], moves: true),
        Row(name: "paused", steps: [Step(at: 0, position: 3), Step(at: 60, isExpected: false)], moves: true),
        Row(
            name: "after a pause the time begins anew",
            steps: [Step(at: 0, position: 3), Step(at: 60, isExpected: false), Step(at: 64, position: 3)], moves: true),
        Row(name: "between two films", steps: [Step(at: 0, position: 3), nil], moves: true),
        Row(
            name: "it moves again", steps: [Step(at: 0, position: 0), Step(at: 9, position: 9), Step(at: 9.1, position: 9.1, taken: 1)],
            moves: true),
    ]

    @Test(arguments: rows) func `a film moves while its clock runs and the frames that are due are taken`(_ row: Row) {
        var watch = MotionWatch(patience: .seconds(5)), moves = true, now = HostTime(nanoseconds: 0)
        for step in row.steps {
            if let step { now = HostTime(nanoseconds: Int64(step.at * 1e9)) }
            moves = watch.isMoving(step?.motion, at: now)
        }
        #expect(moves == row.moves)
    }
}
