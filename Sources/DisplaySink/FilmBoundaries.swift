package import Media

/// Which film of a stream of frames a frame is of, where one film follows another without a gap: a pure value.
package struct FilmBoundaries: Sendable {
    /// The film whose frames come; 0 is the first.
    package private(set) var number = 0
    /// Those that follow, and from when on.
    private var following: [(number: Int, start: MediaTime)] = []
    /// A frame of this film has come, and none has been reported by the display yet.
    private var isNew = false
    /// The film that has begun and of which nobody has heard yet.
    private var begun: Int?

    package init() {}

    /// Frames from `start` on are of the film `number`. Films follow in the order of their times.
    package mutating func follow(_ number: Int, from start: MediaTime) { following.append((number, start)) }

    /// None of those that were to follow does.
    package mutating func forget() { following = [] }

    /// The frames that come are of a film before.
    package mutating func resume(_ number: Int) {
        self.number = number
        (isNew, begun) = (false, nil)
    }

    /// The film that a frame of this time, which has not come yet, is of.
    package func film(at time: MediaTime) -> Int {
        guard time.isNumeric else { return number }
        return following.last { $0.start <= time }?.number ?? number
    }

    /// A frame of this time comes. True when it is the first of another film.
    package mutating func enter(_ time: MediaTime) -> Bool {
        guard time.isNumeric, let last = following.lastIndex(where: { $0.start <= time }) else { return false }
        number = following[last].number
        following.removeFirst(last + 1)
        isNew = true
        return true
    }

    /// The display has reported a frame of this film.
    package mutating func report() {
        if isNew { begun = number }
        isNew = false
    }

    /// The film of which the display has shown a frame since the last call; nil: none.
    package mutating func takeBegun() -> Int? { begun.take() }
}
