internal import Media

/// Remembers the samples that a decoder has swallowed, until their picture, an error or the certainty of neither comes.
///
/// Pictures come out in another order than samples go in, some samples never give one, and a decoder reports only time
/// stamps. Kept in a table of fixed size: nothing is allocated per sample.
struct SampleLedger {
    struct Entry {
        var timestamp: Int64
        var presentationTime: MediaTime
        var duration: MediaTime
        var displayImmediately: Bool
        var isOpen: Bool
    }

    /// Samples that can be on their way at once before the oldest is given up: 32 of reordering, 32 in fields, 64 in threads.
    static let capacity = 128

    private var entries: [Entry]
    private var head = 0
    private var count = 0
    /// Errors reported for samples that could not be told apart; each closes one entry that would be given up.
    private var unassignedErrors = 0

    init() {
        let empty = Entry(timestamp: 0, presentationTime: .invalid, duration: .invalid, displayImmediately: false, isOpen: false)
        entries = Array(repeating: empty, count: Self.capacity)
    }

    /// Takes a sample in. Returns the time of the oldest one if it has to be given up for that: it carried no picture.
    mutating func open(timestamp: Int64, presentationTime: MediaTime, duration: MediaTime, displayImmediately: Bool) -> MediaTime? {
        let abandoned = count == Self.capacity ? closeOldest() : nil
        entries[(head + count) % Self.capacity] = Entry(
            timestamp: timestamp, presentationTime: presentationTime, duration: duration, displayImmediately: displayImmediately,
            isOpen: true)
        count += 1
        return abandoned
    }

    /// The sample whose picture bears `timestamp`; nil when none is known (a picture shown twice, an invented time).
    mutating func close(timestamp: Int64) -> Entry? {
        for offset in 0..<count {
            let index = (head + offset) % Self.capacity
            guard entries[index].isOpen, entries[index].timestamp == timestamp else { continue }
            entries[index].isOpen = false
            defer { dropClosed() }
            return entries[index]
        }
        return nil
    }

    /// The decoder failed at one of the samples.
    mutating func noteError() { unassignedErrors += 1 }

    /// Gives up the oldest sample still open; nil when none is, or when an error has answered it already.
    mutating func closeOldest() -> MediaTime? {
        while count > 0 {
            let entry = entries[head]
            head = (head + 1) % Self.capacity
            count -= 1
            guard entry.isOpen else { continue }
            if unassignedErrors > 0 {
                unassignedErrors -= 1
                return nil
            }
            return entry.presentationTime
        }
        unassignedErrors = 0
        return nil
    }

    var isEmpty: Bool { count == 0 }

    private mutating func dropClosed() {
        while count > 0, !entries[head].isOpen {
            head = (head + 1) % Self.capacity
            count -= 1
        }
    }
}
