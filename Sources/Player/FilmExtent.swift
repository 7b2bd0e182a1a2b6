package import Media

/// From when to when a film's frames and its sound last, as far as its samples have been read.
package struct FilmExtent: Sendable, Hashable {
    /// A span of media time; infinite the wrong way round while nothing is known.
    package struct Span: Sendable, Hashable {
        package var begin = MediaTime.positiveInfinity, end = MediaTime.negativeInfinity

        package init() {}

        package init(_ begin: MediaTime, _ end: MediaTime) { (self.begin, self.end) = (begin, end) }

        /// Whether it holds anything.
        package var isKnown: Bool { begin < end }

        /// Takes in what lies at `time`. Times that are not known say nothing.
        package mutating func add(_ time: MediaTime, _ duration: MediaTime) {
            guard time.isNumeric, duration.isNumeric, duration > .zero else { return }
            begin = min(begin, time)
            end = max(end, time + duration)
        }

        func shifted(by shift: MediaTime) -> Span { isKnown ? Span(begin + shift, end + shift) : self }
    }

    /// Of what is shown, and of what is heard.
    package var frames = Span(), sound = Span()

    package init(frames: Span = Span(), sound: Span = Span()) { (self.frames, self.sound) = (frames, sound) }

    /// The same film later on.
    package func shifted(by shift: MediaTime) -> FilmExtent { FilmExtent(frames: frames.shifted(by: shift), sound: sound.shifted(by: shift)) }

    /// When it begins: with its first frame, or with its first sound where it has no frames. Nil: there is nothing.
    package var begin: MediaTime? { frames.isKnown ? frames.begin : sound.isKnown ? sound.begin : nil }
}

extension FilmExtent {
    /// 50 ms: by so much the sound of a film may be longer than its frames for no other reason than the length of an encoder's blocks.
    static let overhang = MediaTime(value: 1, timescale: 20)

    /// What is added to the times of the film `next` so that it follows this one without a gap: its first frame lies where the last frame's
    /// duration ends.
    ///
    /// Sound that ends up to `overhang` after the last frame gives way to that of the next film. Where it is longer, or where the next film's sound
    /// begins before its frames, no sound is lost, and the last frame stays longer. A film without frames follows where the sound ends.
    ///
    /// - Parameters:
    ///   - next: where the next film begins, in its own time.
    ///   - now: a film that comes too late begins here; nil: where it belongs.
    /// - Returns: Nil when the two have no kind of track in common, or when nothing is known of one of them.
    package func shift(of next: FilmExtent, notBefore now: MediaTime? = nil) -> MediaTime? {
        guard let shift = seamlessShift(of: next), let now, now.isNumeric, let begin = next.begin else { return seamlessShift(of: next) }
        return max(shift, now - begin)
    }

    private func seamlessShift(of next: FilmExtent) -> MediaTime? {
        let byFrames = frames.isKnown && next.frames.isKnown ? frames.end - next.frames.begin : nil
        let bySound = sound.isKnown && next.sound.isKnown ? sound.end - next.sound.begin : nil
        guard let byFrames, let bySound else { return byFrames ?? bySound }
        return bySound - byFrames > Self.overhang ? bySound : byFrames
    }
}
