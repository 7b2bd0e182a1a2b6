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
    /// Whether the first film follows the last.
    public let loops: Bool
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
    ///   - loops: whether the first film follows the last.
    ///   - seed: shuffles the films, always in the same way for the same seed; nil keeps their order.
    public init(_ entries: [Entry], loops: Bool = false, shuffledBy seed: UInt64? = nil) {
        self.entries = entries
        self.loops = loops
        order = Array(entries.indices)
        dice = seed.map(SplitMix.init)
        if dice != nil { shuffle(after: nil) }
    }

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

    /// Forgets all films but this one, which is the current one then.
    public mutating func replace(with entry: Entry) {
        entries = [entry]
        order = [0]
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
