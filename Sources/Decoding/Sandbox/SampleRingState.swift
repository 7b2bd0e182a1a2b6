/// Which bytes of the shared ring hold samples that the decoder still reads. It knows places only, no memory.
///
/// A sample lies in one piece: where the end is too near, the piece begins at the ring's beginning and the bytes before are left empty. Samples
/// may be given back in any order; room comes free in the order in which it was taken.
struct SampleRingState {
    private struct Entry {
        var number: UInt32
        /// The first byte after the sample, counted from the first sample on without wrapping.
        var end: Int
        var isFree = false
    }

    /// Bytes.
    let capacity: Int
    private var entries: [Entry] = []
    private var firstEntry = 0
    private var head = 0
    private var tail = 0

    /// Bytes to which samples are aligned, for the widest vector instructions.
    private static let alignment = 64

    init(capacity: Int) {
        precondition(capacity > 0 && capacity % Self.alignment == 0)
        self.capacity = capacity
        entries.reserveCapacity(256)
    }

    /// Takes room for `byteCount` bytes; where they lie, or nil when there is no room now.
    mutating func allocate(_ byteCount: Int, number: UInt32) -> Int? {
        guard byteCount <= capacity else { return nil }
        let size = max(Self.alignment, (byteCount + Self.alignment - 1) / Self.alignment * Self.alignment)
        var start = tail
        let place = start % capacity
        if place + size > capacity { start += capacity - place }
        guard start + size - head <= capacity else { return nil }
        tail = start + size
        entries.append(Entry(number: number, end: tail))
        return start % capacity
    }

    /// The decoder no longer reads the sample `number`. False when it does not lie in the ring.
    mutating func free(_ number: UInt32) -> Bool {
        guard let index = entries[firstEntry...].firstIndex(where: { $0.number == number && !$0.isFree }) else { return false }
        entries[index].isFree = true
        while firstEntry < entries.count, entries[firstEntry].isFree {
            head = entries[firstEntry].end
            firstEntry += 1
        }
        if isEmpty {
            removeAll()
        } else if firstEntry > 128 {
            entries.removeFirst(firstEntry)
            firstEntry = 0
        }
        return true
    }

    /// Nobody reads any of them.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        (firstEntry, head, tail) = (0, 0, 0)
    }

    var isEmpty: Bool { firstEntry == entries.count }
}
