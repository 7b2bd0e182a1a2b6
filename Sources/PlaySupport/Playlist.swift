/// The films to play, which one is next, and what follows the last.
///
/// A pure value. It begins at the first entry; `current` is nil when nothing is left to play.
public struct Playlist: Sendable {
    /// One film, or still image, of a playlist.
    public struct Entry: Sendable, Hashable {
        /// The file or address, as the player opens it.
        public var location: String
        /// The title that the list gives it; nil: none.
        public var title: String?

        /// Makes an entry.
        public init(_ location: String, title: String? = nil) {
            self.location = location
            self.title = title
        }
    }

    /// All films, in the order of the list.
    public private(set) var entries: [Entry]
    /// How many more times the first film follows the last; `Int.max`: for ever.
    public var turnsLeft: Int
    /// The order in which they play, as indices of `entries`.
    private var order: [Int]
    /// A place in `order`; its end when nothing is left.
    private var place = 0
    /// Makes the orders of `shuffle`; nil plays in the order of the list.
    private var dice: SplitMix?
    /// Somebody has added films, or taken them away, so that the list is no longer what it was read from.
    private var isEdited = false
    /// Films that failed one after the other, without one that played.
    private var failures = 0

    /// - Parameters:
    ///   - loops: whether the first film follows the last, for ever.
    ///   - seed: shuffles the films, always in the same way for the same seed; nil keeps their order.
    public init(_ entries: [Entry], loops: Bool = false, shuffledBy seed: UInt64? = nil) {
        self.entries = entries
        turnsLeft = loops ? .max : 0
        order = Array(entries.indices)
        dice = seed.map(SplitMix.init)
        if dice != nil { shuffle(after: nil) }
    }

    /// Whether the first film follows the last.
    public var loops: Bool { turnsLeft > 0 }

    /// The film to play; nil: none is left.
    public var current: Entry? { place < order.count ? entries[order[place]] : nil }

    /// The place of the current film in `entries`; nil: none is left.
    public var index: Int? { place < order.count ? order[place] : nil }

    /// Whether there is a film after the current one.
    public var hasNext: Bool { place + 1 < order.count || (loops && !order.isEmpty) }

    /// Whether there is a film before the current one.
    public var hasPrevious: Bool { place > 0 || (loops && !order.isEmpty) }

    /// The current film has played to its end, or the viewer wants the next one.
    public mutating func next() {
        failures = 0
        advance()
    }

    /// The current film cannot be played: the next one follows, unless none of a looping list can be played.
    public mutating func skip() {
        failures += 1
        if failures >= order.count { place = order.count } else { advance() }
    }

    /// The viewer wants the film before the current one. Without one, nothing changes.
    public mutating func previous() {
        guard hasPrevious else { return }
        failures = 0
        place = place > 0 ? place - 1 : order.count - 1
    }

    /// Adds a film that plays after all others.
    public mutating func append(_ entry: Entry) {
        entries.append(entry)
        order.append(entries.count - 1)
        isEdited = true
    }

    /// Adds films that play after the current one, before all others.
    public mutating func insert(_ films: [Entry]) {
        guard let index else { return append(films) }
        entries.insert(contentsOf: films, at: index + 1)
        order = order.map { $0 > index ? $0 + films.count : $0 }
        order.insert(contentsOf: index + 1..<index + 1 + films.count, at: place + 1)
        isEdited = true
    }

    /// Adds films that play after all others.
    public mutating func append(_ films: [Entry]) { for film in films { append(film) } }

    /// Takes a film away; of the current one the next takes the place. Without such a film nothing changes.
    ///
    /// - Parameter index: its place in `entries`.
    public mutating func remove(at index: Int) {
        guard let gone = order.firstIndex(of: index) else { return }
        entries.remove(at: index)
        order.remove(at: gone)
        order = order.map { $0 > index ? $0 - 1 : $0 }
        if gone < place { place -= 1 }
        isEdited = true
    }

    /// Moves a film before another one, or with the number of films to the end. Without such films nothing changes. A shuffled order stays.
    ///
    /// - Parameters:
    ///   - index: its place in `entries`.
    ///   - other: the other one's.
    public mutating func move(from index: Int, before other: Int) {
        guard entries.indices.contains(index), (0...entries.count).contains(other) else { return }
        var places = Array(entries.indices)
        places.insert(index, at: other)
        places.remove(at: index < other ? index : index + 1)
        var news = [Int](repeating: 0, count: places.count)
        for (new, old) in places.enumerated() { news[old] = new }
        let isInOrder = order == Array(entries.indices), current = self.index
        entries = places.map { entries[$0] }
        order = isInOrder ? Array(entries.indices) : order.map { news[$0] }
        if isInOrder, let current { place = news[current] }
        isEdited = true
    }

    /// Forgets all films but the current one.
    public mutating func clear() {
        entries = current.map { [$0] } ?? []
        order = Array(entries.indices)
        (place, failures) = (0, 0)
        isEdited = true
    }

    /// All other films play after the current one, in a random order.
    public mutating func shuffle(by seed: UInt64) {
        guard let index else { return }
        var dice = SplitMix(seed: seed)
        order = [index] + order.filter { $0 != index }.shuffled(using: &dice)
        (place, self.dice) = (0, dice)
    }

    /// The films play in the order of the list from now on.
    public mutating func unshuffle() {
        dice = nil
        place = index ?? entries.count
        order = Array(entries.indices)
    }

    /// Takes over what the list is read from now: films that are gone are left out, the current one when another follows it, and new ones join in.
    /// Does nothing to a list that somebody has changed, and with no film at all.
    ///
    /// A shuffled list keeps its order; new films come at random places after the current one.
    public mutating func update(_ films: [Entry]) {
        guard let current, let index, !isEdited, !films.isEmpty, films != entries else { return }
        var films = films, numbers: [Entry: [Int]] = [:]
        if !films.contains(current) { films.insert(current, at: min(index, films.count)) }
        for number in films.indices.reversed() { numbers[films[number], default: []].append(number) }
        let kept = order.map { numbers[entries[$0]]?.popLast() }
        entries = films
        order = kept.compactMap(\.self)
        place = kept[..<place].count { $0 != nil }
        guard var dice else {
            place = order[place]
            order = Array(films.indices)
            return
        }
        for number in numbers.values.joined().sorted() { order.insert(number, at: .random(in: place + 1...order.count, using: &dice)) }
        self.dice = dice
    }

    /// Forgets all films but these, of which the first is the current one then.
    public mutating func replace(with films: [Entry]) {
        entries = films
        order = Array(films.indices)
        isEdited = true
        (place, failures) = (0, 0)
    }

    /// Makes another film the current one; the order stays.
    ///
    /// - Parameter index: its place in `entries`. Without such a film nothing changes.
    public mutating func jump(to index: Int) {
        guard let place = order.firstIndex(of: index) else { return }
        self.place = place
        failures = 0
    }

    private mutating func advance() {
        guard place < order.count else { return }
        place += 1
        guard place == order.count, loops else { return }
        if turnsLeft < .max { turnsLeft -= 1 }
        if dice != nil { shuffle(after: order.last) }
        place = 0
    }

    /// Another order, which does not begin with the film that has just played.
    private mutating func shuffle(after last: Int?) {
        guard var dice, order.count > 1 else { return }
        order.shuffle(using: &dice)
        if order.first == last { order.swapAt(0, order.count - 1) }
        self.dice = dice
    }
}

/// Numbers that are the same for the same seed (SplitMix64 of Steele, Lea and Flood).
private struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
