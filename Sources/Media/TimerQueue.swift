/// The calls that a timer thread has to make, in the order of their deadlines. Pure state: the time is given.
struct TimerQueue<Call> {
    private struct Entry {
        let id: UInt64
        let call: Call
        let deadline: HostTime
    }

    private var nextID: UInt64 = 0
    /// Earliest first. A handful: one for each timebase that has timers.
    private var entries: [Entry] = []

    /// When the next call is due; nil when none waits.
    var nextDeadline: HostTime? { entries.first?.deadline }
    var count: Int { entries.count }

    /// Adds a call and gives the number to cancel it by. Calls with the same deadline keep the order in which they were added.
    mutating func add(_ call: Call, at deadline: HostTime) -> UInt64 {
        nextID += 1
        insert(Entry(id: nextID, call: call, deadline: deadline))
        return nextID
    }

    /// Takes out the call that is due first, if one is due at `now`.
    mutating func takeDue(at now: HostTime) -> (id: UInt64, call: Call)? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        entries.removeFirst()
        return (first.id, first.call)
    }

    /// Puts a call that was taken out too early back, under its number.
    mutating func putBack(_ id: UInt64, _ call: Call, at deadline: HostTime) { insert(Entry(id: id, call: call, deadline: deadline)) }

    /// Removes a call that has not been taken out.
    mutating func cancel(_ id: UInt64) { entries.removeAll { $0.id == id } }

    private mutating func insert(_ entry: Entry) {
        entries.insert(entry, at: entries.firstIndex { $0.deadline > entry.deadline } ?? entries.endIndex)
    }
}
