/// The screens of characters that a track of captions has shown, each until the next one.
///
/// A decoder that begins in the middle of a film knows nothing of what was on before. So what was read once stays, and is not overwritten by what is
/// read of the same part again; where nothing has been read, nothing is on. A pure value. Times are milliseconds.
struct CaptionScreens: Sendable {
    struct Screen: Sendable, Hashable {
        var start: Int64
        /// See `SubtitleEvent.screen`.
        var text: [UInt8]

        /// Nothing is written on it: the ninth field, behind eight commas, is empty.
        var isEmpty: Bool {
            var commas = 0
            for (index, byte) in text.enumerated() where byte == UInt8(ascii: ",") {
                commas += 1
                if commas == 8 { return index + 1 == text.count }
            }
            return true
        }
    }

    /// A part of the film that has been read, with both ends.
    private struct Part {
        var first, last: Int64
    }

    /// 100,000 screens and 64 MiB: an hour in which every frame changes a character. Of more, those far away go, many at once.
    private let most: Int, mostBytes: Int
    /// 2 s: captions come more often, if only to say that there are none. Behind a longer pause another part begins.
    static let slack: Int64 = 2_000

    /// By their starts, one for each.
    private var screens: [Screen] = []
    private var byteCount = 0
    /// In their order, apart from each other.
    private var parts: [Part] = []
    /// The first moment of the part in which reading goes on; nil after a seek.
    private var current: Int64?

    init(most: Int = 100_000, mostBytes: Int = 64 << 20) { (self.most, self.mostBytes) = (most, mostBytes) }

    /// The film goes on elsewhere.
    mutating func seek() { current = nil }

    /// A sample of this time is decoded.
    ///
    /// - Returns: Whether what it brings is news, which it is not where the same part has been read before. From which moment on something else is
    ///   shown than before the call; nil: nothing else is.
    mutating func reach(_ time: Int64) -> (isNews: Bool, changed: Int64?) {
        if let current, let index = parts.firstIndex(where: { $0.first == current }), time >= current, time <= parts[index].last + Self.slack {
            guard time > parts[index].last else { return (time == parts[index].last, nil) }
            return extend(index, to: time)
        }
        if let index = parts.firstIndex(where: { $0.first <= time && time <= $0.last }) {
            current = parts[index].first
            // Its last screen lasts on.
            return (false, parts[index].last)
        }
        // What is on here is not known. It is nothing, until the decoder says more.
        current = time
        parts.insert(Part(first: time, last: time), at: parts.firstIndex { $0.first > time } ?? parts.count)
        add(Screen(start: time, text: []))
        return (true, time)
    }

    /// What is read is no news where the next part has been reached, which has been read.
    private mutating func extend(_ index: Int, to time: Int64) -> (isNews: Bool, changed: Int64?) {
        parts[index].last = time
        guard index + 1 < parts.count, parts[index + 1].first <= time else { return (true, nil) }
        let next = parts.remove(at: index + 1)
        parts[index].last = max(time, next.last)
        // Now it is known what is on where the next part begins.
        if let place = place(of: next.first), screens[place].text.isEmpty { screens.remove(at: place) }
        return (time > next.last, next.first)
    }

    /// What is shown from `screen.start` on.
    mutating func add(_ screen: Screen) {
        byteCount += screen.text.count
        if let place = place(of: screen.start) {
            byteCount -= screens[place].text.count
            screens[place] = screen
        } else {
            screens.insert(screen, at: count(until: screen.start))
        }
        if screens.count > most || byteCount > mostBytes { forget(farFrom: screen.start) }
    }

    /// Drops a tenth of the screens at the end of the film that is farther away. Nothing is known there any more.
    private mutating func forget(farFrom time: Int64) {
        let many = max(1, screens.count / 10), isEarly = count(until: time) * 2 <= screens.count
        let gone = isEarly ? screens.suffix(many) : screens.prefix(many)
        byteCount -= gone.reduce(0) { $0 + $1.text.count }
        if isEarly {
            guard let first = gone.first?.start else { return }
            screens.removeLast(many)
            parts = parts.filter { $0.first < first }
            for index in parts.indices { parts[index].last = min(parts[index].last, first - 1) }
        } else {
            screens.removeFirst(many)
            guard let first = screens.first?.start else { return }
            parts = parts.filter { $0.last >= first }
            for index in parts.indices where parts[index].first < first {
                if current == parts[index].first { current = first }
                parts[index].first = first
            }
        }
    }

    /// The screen at `time`, nil where nothing is on, and until when it stays.
    func state(at time: Int64) -> (screen: Screen?, until: Int64) {
        let index = count(until: time)
        var until = index < screens.count ? screens[index].start : Int64.max
        guard index > 0 else { return (nil, until) }
        // Behind the end of a part that is not being read, nothing is known.
        guard let part = parts.last(where: { $0.first <= time }) else { return (nil, until) }
        if part.first != current {
            guard time <= part.last + Self.slack else { return (nil, until) }
            until = min(until, part.last + Self.slack + 1)
        }
        let screen = screens[index - 1]
        return (screen.isEmpty ? nil : screen, until)
    }

    /// How many screens begin at `time` or before.
    private func count(until time: Int64) -> Int {
        var low = 0, high = screens.count
        while low < high {
            let middle = (low + high) / 2
            if screens[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func place(of start: Int64) -> Int? {
        let index = count(until: start) - 1
        return index >= 0 && screens[index].start == start ? index : nil
    }
}
