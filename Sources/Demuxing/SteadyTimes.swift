internal import SampleQueue

/// Decides whether a film goes where the time of a sample says, so that one damaged time does not hold a frame for hours.
///
/// A time is doubtful when it lies more than ten seconds from where its track is. The samples that follow, those of the other tracks and the film's
/// stated length decide:
/// - When the track comes back to where it was, the times in between are damaged. They are moved, so that they join on.
/// - A jump forwards that nothing takes back is a pause in the film, if the film is long enough. Where the length is unknown, it is a pause when it
///   is short, or when another track has gone there.
/// - A jump backwards that nothing takes back is another film behind the first, and joins on.
///
/// A presentation time is doubtful when it lies far from its own decode time, which it does not when the decode times reach it soon. Without it the
/// decoder derives one from the decode time.
///
/// Clocks of broadcasts that jump are joined by `Timeline` before. A pure value; it counts microseconds, and reads no clock.
package struct SteadyTimes: Sendable {
    /// The times of a sample, in microseconds.
    package struct Stamp: Sendable, Hashable {
        package var track: Int
        /// When it is decoded; where that is unknown, when it is shown.
        package var order: Int64
        /// When it is shown, where its decode time is known, too.
        package var presentation: Int64?
        /// 0: unknown.
        package var duration: Int64

        package init(track: Int, order: Int64, presentation: Int64? = nil, duration: Int64 = 0) {
            (self.track, self.order, self.presentation, self.duration) = (track, order, presentation, max(duration, 0))
        }
    }

    /// What becomes of a sample's times.
    package struct Placement: Sendable, Hashable {
        /// Added to its times.
        package var shift: Int64 = 0
        /// Its presentation time does not count.
        package var losesPresentation = false
        /// Its duration does not count.
        package var losesDuration = false
    }

    private struct Progress: Sendable {
        /// Decode time of the last sample, as placed.
        var last: Int64
        /// How long that lasts, or the one before it did; 0 when unknown.
        var step: Int64
        /// Added to the container's times.
        var shift: Int64
    }

    /// Ten seconds, as `Timeline.jump`: more is no jitter.
    package static let jump: Int64 = 10_000_000
    /// How long a sample may last: an hour in a film whose length nobody states, else as long as the film, but no longer than a day.
    private static let hour: Int64 = 3_600_000_000, day = 24 * hour
    /// A minute: how long a pause is believed in a film whose length nobody states.
    package static let longestPause: Int64 = 60_000_000
    /// Decoders reorder 16 frames at most.
    private static let reordering: Int64 = 17

    /// Tracks that go on without long pauses; others, such as subtitles, follow them.
    private let steady: Set<Int>
    private let length: Int64?
    private var origin: Int64 = 0
    private var progress: [Int: Progress] = [:]

    /// - Parameters:
    ///   - steady: the tracks of frames and of sound.
    ///   - length: of the film; nil when unknown.
    package init(steady: Set<Int>, length: Int64?) { (self.steady, self.length) = (steady, length) }

    /// Reading goes on elsewhere, at the last sync sample before `time`.
    package mutating func begin(at time: Int64) { (origin, progress) = (time, [:]) }

    /// Whether the samples that follow are needed to place this one.
    package func isDoubtful(_ stamp: Stamp) -> Bool {
        guard steady.contains(stamp.track) else { return false }
        return fit(stamp) == nil || isPresentationDoubtful(stamp)
    }

    /// Places the next sample.
    /// - Parameters:
    ///   - following: the samples behind it, as many as are known; more than those of a second, if it is doubtful.
    ///   - isAll: no sample follows those.
    package mutating func place(_ stamp: Stamp, following: some Sequence<Stamp>, isAll: Bool = false) -> Placement {
        var placement = Placement()
        placement.losesDuration = stamp.duration > Ticks.add(min(length ?? Self.hour, Self.day), Self.jump)
        guard steady.contains(stamp.track) else {
            placement.shift = shiftBeside(stamp)
            return placement
        }
        let shift = fit(stamp) ?? judged(stamp, following), placed = Ticks.add(stamp.order, shift)
        if let presentation = stamp.presentation, isPresentationDoubtful(stamp) {
            let there = Ticks.add(presentation, shift)
            // Decoding gets there with the samples behind it, and stays.
            let isReached = following.contains { $0.track == stamp.track && $0.order >= Ticks.add(presentation, -Self.jump) }
            let stays =
                isReached && isPossible(there, from: placed, stamp.track)
                && !Self.comesBack(stamp, to: placed, shift: shift, isAway: false, following)
            placement.losesPresentation = presentation < stamp.order || !stays && !(isAll && !isReached && isInside(there))
        }
        let before = progress[stamp.track], difference = Ticks.add(placed, -(before?.last ?? placed))
        let step = placement.losesDuration ? 0 : stamp.duration
        progress[stamp.track] = Progress(
            last: placed, step: step > 0 ? step : difference > 0 && difference <= Self.jump ? difference : before?.step ?? 0, shift: shift)
        placement.shift = shift
        return placement
    }

    /// The shift with which the sample is where its track is; nil: it is elsewhere.
    private func fit(_ stamp: Stamp) -> Int64? {
        guard let track = progress[stamp.track] else {
            // After a seek the sync sample may lie long before.
            return stamp.order <= Ticks.add(origin, Self.jump) && (origin > 0 || stamp.order >= -Self.jump) ? 0 : nil
        }
        func fits(_ shift: Int64) -> Bool {
            let time = Ticks.add(stamp.order, shift)
            return time >= Ticks.add(track.last, -Self.jump) && time <= Ticks.add(expected(track), Self.jump)
        }
        // At the container's own time what was damaged is over. Tracks that jump together stay together.
        if fits(track.shift) { return track.shift }
        if fits(0) { return 0 }
        return progress.sorted { $0.key < $1.key }.map(\.value.shift).first(where: fits)
    }

    private func expected(_ track: Progress) -> Int64 { Ticks.add(track.last, track.step) }

    private func isInside(_ time: Int64) -> Bool { length.map { time >= -Self.jump && time <= Ticks.add($0, Self.jump) } ?? false }

    /// The shift of a sample that is not where its track is.
    private func judged(_ stamp: Stamp, _ following: some Sequence<Stamp>) -> Int64 {
        let track = progress[stamp.track], shift = track?.shift ?? 0, place = track.map(expected) ?? max(origin, 0)
        let time = Ticks.add(stamp.order, shift), joined = Ticks.add(place, -stamp.order)
        if Self.comesBack(stamp, to: place, shift: shift, isAway: true, following) { return joined }
        guard let track else { return length == nil || isInside(time) ? 0 : joined }
        return time > track.last && isPossible(time, from: place, stamp.track) ? shift : joined
    }

    /// Whether a film may go on at `time` after `place`.
    private func isPossible(_ time: Int64, from place: Int64, _ track: Int) -> Bool {
        if length != nil { return isInside(time) }
        let hasGoneThere = progress.contains { $0.key != track && $0.value.last >= Ticks.add(time, -Self.jump) }
        return hasGoneThere || Ticks.add(time, -place) <= Self.longestPause
    }

    /// Whether the track is back at `place`, where it left, or is with the next sample if it is not `isAway`.
    private static func comesBack(_ stamp: Stamp, to place: Int64, shift: Int64, isAway: Bool, _ following: some Sequence<Stamp>) -> Bool {
        var isAway = isAway, last = stamp.order, end = Ticks.add(place, jump)
        for next in following where next.track == stamp.track {
            let there = Ticks.add(next.order, shift), step = Ticks.add(next.order, -last)
            // Where it would be by now. Steps that are jumps are no time in which the film goes on.
            if abs(step) <= jump { end = Ticks.add(end, max(step, 0)) }
            last = next.order
            let isThere = there >= Ticks.add(place, -jump) && there <= end
            if isAway, isThere { return true }
            isAway = !isThere
        }
        return false
    }

    /// That of the tracks beside which it lies.
    private func shiftBeside(_ stamp: Stamp) -> Int64 {
        guard let film = progress.values.max(by: { $0.last < $1.last }), film.shift != 0 else { return 0 }
        func isNear(_ time: Int64) -> Bool { time >= Ticks.add(film.last, -Self.jump) && time <= Ticks.add(film.last, Self.jump) }
        return !isNear(stamp.order) && isNear(Ticks.add(stamp.order, film.shift)) ? film.shift : 0
    }

    private func isPresentationDoubtful(_ stamp: Stamp) -> Bool {
        guard let presentation = stamp.presentation else { return false }
        let distance = Ticks.add(presentation, -stamp.order)
        let step = min(max(stamp.duration, progress[stamp.track]?.step ?? 0), .max / (2 * Self.reordering))
        return distance < -Self.jump || distance > Ticks.add(Self.jump, Self.reordering * step)
    }
}
