import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// Holds a session to its word: one answer for every sample, and none after the end.
///
/// Thread-safety: all of it; answers may come on another thread than samples are given on.
final class AnswerAudit: Sendable {
    fileprivate struct State: Sendable {
        var given: [SampleReceipt] = []
        var answered: Set<UInt64> = []
        var isOver = false
        var isBusy = false
        /// Of the frame before, in a run without flush, drain or damage.
        var lastTime: MediaTime?
        var lastSequence: UInt64?
        var lastFlushed: UInt64?
        var frames = 0, extras = 0, failures = 0
        var drops: [DropReason: Int] = [:]
        var complaints: [String] = []
    }

    private let state = Monitor(State())
    /// Whether frames must come in the order of their times; not so where bytes were changed.
    let checksOrder: Bool

    init(checksOrder: Bool) { self.checksOrder = checksOrder }

    /// To be called before the sample is given.
    func give(_ sample: SampleBuffer) {
        state.withLock { state in
            state.given.append(
                SampleReceipt(
                    number: UInt64(state.given.count), presentationTime: sample.presentationTime, decodeTime: sample.decodeTime,
                    duration: sample.duration))
        }
    }

    /// The film jumps: a new order of times begins.
    func jump() {
        state.withLock { state in
            state.lastTime = nil
            state.lastFlushed = nil
        }
    }

    /// Nothing may come from now on.
    func end() { state.withLock { $0.isOver = true } }

    func receive(_ output: consuming DecodeOutput) {
        let isAlone = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        switch consume output {
        case .frame(let frame):
            let number = frame.sampleNumber, time = frame.presentationTime, sequence = frame.sequence, isDamaged = frame.flags.contains(.corrupt)
            state.withLock { state in
                if let number { state.answer(number, nil) } else { state.extras += 1 }
                state.frames += 1
                if let last = state.lastSequence, sequence <= last { state.complain("frame \(sequence) after \(last)") }
                state.lastSequence = sequence
                if checksOrder, number != nil, !isDamaged, let last = state.lastTime, time < last {
                    state.complain("a frame of \(time.seconds) s after one of \(last.seconds) s")
                }
                state.lastTime = time
            }
        case .dropped(let receipt, let reason):
            state.withLock { state in
                state.answer(receipt.number, receipt)
                state.drops[reason, default: 0] += 1
                guard reason == .flushed else { return }
                if let last = state.lastFlushed, receipt.number <= last { state.complain("flushed \(receipt.number) after \(last)") }
                state.lastFlushed = receipt.number
            }
        case .failed(let receipt, _):
            state.withLock { state in
                state.answer(receipt.number, receipt)
                state.failures += 1
            }
        }
        state.change { state in
            if !isAlone { state.complain("two answers at once") }
            state.isBusy = false
        }
    }

    /// The sample given last was not taken.
    func takeBack() { state.withLock { _ = $0.given.popLast() } }

    func wait(forAnswers count: Int) { state.wait { $0.answered.count >= count ? () : nil } }

    /// How many samples have no answer.
    var unanswered: Int { state.withLock { $0.given.count - $0.answered.count } }
    var given: Int { state.withLock { $0.given.count } }
    var frames: Int { state.withLock { $0.frames } }
    var extras: Int { state.withLock { $0.extras } }
    var failures: Int { state.withLock { $0.failures } }
    var drops: [DropReason: Int] { state.withLock { $0.drops } }
    var complaints: [String] { state.withLock { $0.complaints } }
}

extension AnswerAudit.State {
    fileprivate mutating func complain(_ sentence: String) { if complaints.count < 10 { complaints.append(sentence) } }

    fileprivate mutating func answer(_ number: UInt64, _ receipt: SampleReceipt?) {
        if isOver { complain("an answer to \(number) after the end") }
        guard number < UInt64(given.count) else { return complain("an answer to \(number), which was not given") }
        if !answered.insert(number).inserted { complain("a second answer to \(number)") }
        if let receipt, receipt != given[Int(number)] { complain("\(number) is answered with the times of another") }
    }
}
