/// A few things that are costly to make, by key: those used last are kept.
struct RecentlyUsed<Key: Equatable, Value> {
    /// The one used last at the end.
    private(set) var entries: [(key: Key, value: Value)] = []
    private let limit: Int

    /// - Parameter limit: Things that are kept.
    init(limit: Int) { self.limit = limit }

    /// The thing of a key, made where there is none.
    mutating func value<E: Error>(_ key: Key, _ make: () throws(E) -> Value) throws(E) -> Value {
        let place = entries.firstIndex { $0.key == key }
        let entry = if let place { entries.remove(at: place) } else { (key: key, value: try make()) }
        entries.append(entry)
        if entries.count > limit { entries.removeFirst() }
        return entry.value
    }

    mutating func removeAll() { entries = [] }
}
