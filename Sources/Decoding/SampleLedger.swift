internal import Media
internal import SurfacePool

/// Remembers the samples that a decoder has taken until each has its one answer.
///
/// Frames come out in another order than samples go in, some samples give none, and a decoder's errors do not name the
/// sample. Kept in a table of fixed size, by number: nothing is allocated per sample.
struct SampleLedger {
    struct Entry {
        var receipt: SampleReceipt
        /// As libavcodec knows it.
        var timestamp: Int64
        var displayImmediately = false
        /// The answer when no frame comes of it.
        var fate = DropReason.noFrame
        /// Its frame is useless afterwards.
        var deadline: HostTime?
        fileprivate(set) var isOpen = true

        init(_ receipt: SampleReceipt, timestamp: Int64) {
            self.receipt = receipt
            self.timestamp = timestamp
        }
    }

    /// Samples that can be on their way at once before the oldest is given up: 32 of reordering, 32 in fields, 64 in threads.
    static let capacity = 128

    /// The entry of sample `n` is at `n % entries.count`.
    private var entries: [Entry?]
    /// No sample before it is open.
    private var oldest: UInt64 = 0
    /// One more than the youngest sample's number.
    private(set) var next: UInt64 = 0

    init(capacity: Int = SampleLedger.capacity) { entries = Array(repeating: nil, count: capacity) }

    private func place(_ number: UInt64) -> Int { Int(number % UInt64(entries.count)) }

    /// What is known of a sample, answered or not; nil when it is too long ago.
    func entry(_ number: UInt64) -> Entry? {
        guard let entry = entries[place(number)], entry.receipt.number == number else { return nil }
        return entry
    }

    /// The next sample that has to be given up before `number` can be opened; nil when there is room.
    mutating func closeOverdue(before number: UInt64) -> Entry? {
        guard let first = firstOpen(), number - first >= UInt64(entries.count) else { return nil }
        return close(first)
    }

    /// Takes a sample in; its number must be higher than all before.
    mutating func open(_ entry: Entry) {
        precondition(entry.receipt.number >= next, "samples are numbered in their order")
        entries[place(entry.receipt.number)] = entry
        next = entry.receipt.number + 1
    }

    /// Closes the sample, whose answer the caller gives now; nil when it has been given already.
    mutating func close(_ number: UInt64) -> Entry? {
        guard let entry = entry(number), entry.isOpen else { return nil }
        entries[place(number)]?.isOpen = false
        return entry
    }

    /// The sample's answer was not given after all; another will be.
    mutating func reopen(_ number: UInt64) {
        guard entry(number) != nil else { return }
        entries[place(number)]?.isOpen = true
        oldest = min(oldest, number)
    }

    /// The open sample whose frame has `timestamp` and, if the decoder kept it, `number`.
    ///
    /// The time decides where the two differ: a frame shown again (VP9) has the number of the sample that it was made of.
    mutating func close(number: UInt64?, timestamp: Int64, isTimeKnown: Bool) -> Entry? {
        if let number, let entry = entry(number), entry.isOpen, entry.timestamp == timestamp { return close(number) }
        if isTimeKnown {
            for other in oldest..<next {
                if let entry = entry(other), entry.isOpen, entry.timestamp == timestamp { return close(other) }
            }
        }
        return number.flatMap { close($0) }
    }

    /// The sample that an error answers; nil when the error says nothing new.
    ///
    /// - Parameter estimate: The sample that the decoder is thought to be at.
    mutating func closeFailed(near estimate: UInt64) -> Entry? {
        if let entry = entry(estimate) {
            if entry.isOpen { return close(estimate) }
            if entry.fate != .noFrame { return nil }
        }
        let open = (oldest..<next).filter { entry($0)?.isOpen == true }
        guard let number = open.first(where: { $0 >= estimate }) ?? open.last else { return nil }
        return close(number)
    }

    /// Gives up the oldest sample still open; nil when none is.
    mutating func closeOldest() -> Entry? { firstOpen().flatMap { close($0) } }

    /// The sample has not been answered.
    func isOpen(_ number: UInt64) -> Bool { entry(number)?.isOpen ?? false }

    var isEmpty: Bool { !(oldest..<next).contains { entry($0)?.isOpen == true } }

    private mutating func firstOpen() -> UInt64? {
        while oldest < next {
            if let entry = entry(oldest), entry.isOpen { return oldest }
            oldest += 1
        }
        return nil
    }
}
