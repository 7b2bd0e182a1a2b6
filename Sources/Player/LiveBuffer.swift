package import Media
package import SampleQueue

/// The samples of a live film that have come: those that are still to be played, and those before them, as far back as there is room.
///
/// A pure value. Samples lie in the order in which they came.
package struct LiveBuffer: Sendable {
    /// How much is kept.
    package struct Limits: Sendable, Hashable {
        /// Bytes that are still to be played, and bytes before them.
        package var ahead: Int64, behind: Int64
        /// What comes beyond `ahead` takes the place of what is oldest. Otherwise it is waited with.
        package var dropsOldest: Bool

        package init(ahead: Int64, behind: Int64, dropsOldest: Bool) {
            (self.ahead, self.behind, self.dropsOldest) = (ahead, behind, dropsOldest)
        }
    }

    /// The track whose sync samples are places to go on from.
    package let lead: Int
    package let limits: Limits
    private var samples: [SampleBuffer?] = []
    /// Samples before `head` are gone; `next` is the one to be played.
    private var head = 0, next = 0
    private var bytesAhead: Int64 = 0, bytesBehind: Int64 = 0
    /// Samples that end at or before it are decoded and not shown.
    private var showFrom = MediaTime.negativeInfinity

    package init(lead: Int, limits: Limits) {
        self.lead = lead
        self.limits = limits
    }

    /// Whether there is nothing to play.
    package var isEmpty: Bool { next == samples.count }
    /// Whether the next sample is to be waited with.
    package var isFull: Bool { !limits.dropsOldest && bytesAhead >= limits.ahead }

    /// Samples in memory.
    package var heldCount: Int { samples.count - head }

    /// Takes in a sample. Returns true where older ones that had not been played gave way to it.
    package mutating func append(_ sample: SampleBuffer) -> Bool {
        samples.append(sample)
        bytesAhead += Self.weight(sample)
        guard limits.dropsOldest, bytesAhead > limits.ahead else { return false }
        // Decoding can go on at a sync sample only; one that is newest leaves room for longest.
        guard let place = samples.indices.reversed().first(where: { $0 > next && isPlace($0) }) else { return false }
        go(to: place)
        return true
    }

    /// The next sample to be played; nil where none has come.
    package mutating func take() -> SampleBuffer? {
        guard next < samples.count, var sample = samples[next] else { return nil }
        go(to: next + 1)
        let shown = sample.shownTime
        if shown.isNumeric, (sample.duration.isNumeric ? shown + sample.duration : shown) <= showFrom { sample.flags.insert(.doNotDisplay) }
        return sample
    }

    /// Goes to the last sync sample at or before `time`; where only later ones have come, to the first of those if `mayBeLater`. False, and nothing
    /// changes, where there is none.
    package mutating func seek(to time: MediaTime, mayBeLater: Bool) -> Bool {
        guard let place = place(for: time, mayBeLater: mayBeLater) else { return false }
        go(to: place)
        showFrom = time
        return true
    }

    /// Whether the film can go on at `time`, from a sync sample before it.
    package func holds(_ time: MediaTime) -> Bool { place(for: time, mayBeLater: false) != nil }

    /// The time of the first sync sample that has come and has not been played; nil: there is none.
    package var nextPlace: MediaTime? { (next..<samples.count).first(where: isPlace).flatMap { samples[$0]?.shownTime } }

    private func place(for time: MediaTime, mayBeLater: Bool) -> Int? {
        var found: Int?
        for index in head..<samples.count where isPlace(index) {
            guard let shown = samples[index]?.shownTime else { continue }
            if shown > time { return found ?? (mayBeLater ? index : nil) }
            found = index
        }
        return found
    }

    private func isPlace(_ index: Int) -> Bool {
        guard let sample = samples[index], sample.trackID == lead, sample.flags.contains(.sync) else { return false }
        return sample.shownTime.isNumeric
    }

    private mutating func go(to place: Int) {
        let (from, to) = (min(next, place), max(next, place))
        let moved = samples[from..<to].reduce(Int64(0)) { $0 + ($1.map(Self.weight) ?? 0) }
        bytesAhead += place < next ? moved : -moved
        bytesBehind += place < next ? -moved : moved
        next = place
        forget()
    }

    /// Forgets the oldest of what has been played.
    private mutating func forget() {
        while head < next, bytesBehind > limits.behind {
            if let sample = samples[head] { bytesBehind -= Self.weight(sample) }
            samples[head] = nil
            head += 1
        }
        guard head > 1024, head > samples.count / 2 else { return }
        samples.removeFirst(head)
        next -= head
        head = 0
    }

    /// The bytes of a sample and of what describes it.
    private static func weight(_ sample: SampleBuffer) -> Int64 { Int64(sample.byteCount) + 512 }
}
