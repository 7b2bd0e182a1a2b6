package import Media
package import SampleQueue

/// Puts the times of a container onto one line that begins at 0 and goes on without holes, and fills in what the container left out.
///
/// Three things happen to each sample, in this order, as in FFmpeg's command line program, whose output is the reference:
/// 1. The start of the film is taken away. Broadcast streams count from any number, which may even wrap meanwhile.
/// 2. In containers whose times may jump (MPEG-TS, MPEG-PS, HLS) a jump moves all that follows, so that it joins on.
///    In other containers a time that jumps to where the film is not, before its beginning or after its end, is damaged and does not count.
/// 3. A missing decode time is estimated by counting durations: raw streams have no times at all, AVI only an order. The decoder derives
///    presentation times from decode times then, so these begin early enough for reordered frames: a reorder depth of two
///    frames begins two frames before zero.
///
/// A pure value. It counts in microseconds, which is what the reference counts in and rounds to.
package struct Timeline: Sendable {
    package struct Track: Sendable {
        /// Seconds in a unit of the container's times.
        package var timeBase: Ratio
        package var isVideo: Bool
        /// Before the first sample.
        package var estimator: TimestampEstimator
        /// First time of the track, in its own units; nil when unknown.
        package var start: Int64?
        /// Times are written with so many bits and wrap around; 64 never do.
        package var wrapBits: Int32

        package init(timeBase: Ratio, isVideo: Bool, estimator: TimestampEstimator, start: Int64? = nil, wrapBits: Int32 = 64) {
            self.timeBase = timeBase
            self.isVideo = isVideo
            self.estimator = estimator
            self.start = start
            self.wrapBits = wrapBits
        }
    }

    /// Presentation and decode time in units of the track's time base.
    package struct Times: Sendable, Hashable {
        package var presentation: Int64?
        package var decode: Int64?

        package init(presentation: Int64?, decode: Int64?) {
            self.presentation = presentation
            self.decode = decode
        }
    }

    private struct Progress: Sendable {
        var estimator: TimestampEstimator
        /// No sample has come since the beginning or a restart.
        var isFirst = true
        var isUnwrapped = false
    }

    private let tracks: [Track]
    private let mayJump: Bool
    /// First time of the film; nil when unknown.
    private let start: Int64?
    /// The film's length as the container states it; nil when unknown.
    private let length: Int64?
    /// No seek has come yet, so that the count of durations began at the film's beginning.
    private var isFromBeginning: Bool
    /// What is added to the container's times.
    private var offset: Int64
    /// What `offset` was before any jump.
    private var firstOffset: Int64
    private var progress: [Progress]
    /// Decode time of the last sample of any track.
    private var last: Int64?

    /// A step of more than 10 s is a jump of the clock, not a pause.
    private static let jump: Int64 = 10_000_000
    /// Going back by more than 0.1 s is a jump too.
    private static let setback: Int64 = 100_000
    /// A time 30 hours from where it should be, in a container that does not jump, is wrong.
    private static let absurd: Int64 = 3600 * 30 * 1_000_000

    /// - Parameters:
    ///   - start: microseconds.
    ///   - length: microseconds; nil when the container does not state it.
    ///   - isFromBeginning: the first samples are the film's, not those of a part of it.
    package init(tracks: [Track], start: Int64?, mayJump: Bool, length: Int64? = nil, isFromBeginning: Bool = true) {
        self.tracks = tracks
        self.isFromBeginning = isFromBeginning
        self.length = length
        let start = start.map { max($0, .min + 1) }
        self.start = start
        self.mayJump = mayJump
        offset = -(start ?? 0)
        firstOffset = offset
        progress = tracks.map { Progress(estimator: $0.estimator) }
    }

    /// The container's time of the film's beginning, in microseconds.
    package var origin: Int64 { -firstOffset }

    /// Only these tracks will come. Where times are those of a broadcast the film begins where the first of them does; ask before the first sample.
    package mutating func select(_ ids: Set<Int>) {
        guard mayJump, let start, progress.allSatisfy(\.isFirst) else { return }
        let chosen = ids.filter { $0 < tracks.count && tracks[$0].wrapBits < 64 }.map { tracks[$0] }
        let starts = chosen.compactMap { track in track.start.map { Ticks.rescale($0, track.timeBase, Ticks.microsecond) } }
        offset = -max(starts.min() ?? start, start)
        firstOffset = offset
    }

    /// Reading goes on elsewhere: the next known time counts.
    /// - Parameter toBeginning: it goes on at the first sample.
    package mutating func restart(toBeginning: Bool) {
        offset = firstOffset
        isFromBeginning = toBeginning
        last = nil
        for index in progress.indices {
            if toBeginning { progress[index] = Progress(estimator: tracks[index].estimator) } else { progress[index].estimator.reset() }
        }
    }

    /// The times of the next sample of `track`, from those that the container gives.
    /// - Parameter duration: in units of the time base; 0 when unknown.
    package mutating func place(_ times: Times, duration: Int64, track index: Int) -> Times {
        let track = tracks[index]
        var times = times
        unwrap(&times, index)
        shift(&times, by: offset, track)
        joinOn(&times, index)
        if let decode = times.decode { last = Ticks.rescale(decode, track.timeBase, Ticks.microsecond) }
        progress[index].isFirst = false
        let decode = progress[index].estimator.decodeTime(times.decode, duration: duration)
        if times.decode == nil, track.isVideo || times.presentation == nil { times.decode = decode }
        if !track.isVideo, times.presentation == nil { times.presentation = times.decode }
        return times
    }

    private func shift(_ times: inout Times, by offset: Int64, _ track: Track) {
        let ticks = Ticks.rescale(offset, Ticks.microsecond, track.timeBase)
        times.presentation = times.presentation.map { Ticks.add($0, ticks) }
        times.decode = times.decode.map { Ticks.add($0, ticks) }
    }

    /// The first samples may lie before the wrap and the film's start behind it.
    private mutating func unwrap(_ times: inout Times, _ index: Int) {
        let track = tracks[index]
        guard !progress[index].isUnwrapped, let start, track.wrapBits < 63, track.wrapBits > 1 else { return }
        progress[index].isUnwrapped = true
        let limit = Ticks.add(Ticks.rescale(start, Ticks.microsecond, track.timeBase), 1 << Int64(track.wrapBits - 1))
        if let time = times.decode, time > limit {
            times.decode = Ticks.add(time, -(1 << Int64(track.wrapBits)))
            progress[index].isUnwrapped = false
        }
        if let time = times.presentation, time > limit {
            times.presentation = Ticks.add(time, -(1 << Int64(track.wrapBits)))
            progress[index].isUnwrapped = false
        }
    }

    private mutating func joinOn(_ times: inout Times, _ index: Int) {
        let track = tracks[index]
        guard let decode = times.decode else {
            if !mayJump, let next = progress[index].estimator.next { dropLost(&times.presentation, expected: next, track) }
            return
        }
        let time = Ticks.rescale(decode, track.timeBase, Ticks.microsecond)
        guard let next = progress[index].estimator.next ?? (mayJump || !isFromBeginning || !progress[index].isFirst ? nil : 0) else {
            if mayJump, let last {
                let step = Ticks.add(time, -last)
                if abs(step) > Self.jump { move(&times, by: -step, track) }
            }
            return
        }
        let step = Ticks.add(time, -next)
        if mayJump {
            let goesBack = Ticks.add(time, Self.setback) < progress[index].estimator.current ?? .min
            if abs(step) > Self.jump || goesBack { move(&times, by: -step, track) }
        } else {
            dropLost(&times.decode, expected: next, track)
            dropLost(&times.presentation, expected: next, track)
        }
    }

    /// Forgets a time that is absurdly far from where it was expected, or far from there and outside the film. Containers state their length
    /// only about.
    private func dropLost(_ stamp: inout Int64?, expected: Int64, _ track: Track) {
        guard let time = stamp.map({ Ticks.rescale($0, track.timeBase, Ticks.microsecond) }) else { return }
        let distance = abs(Ticks.add(time, -expected))
        let isOutside = length.map { time < -Self.jump || time > Ticks.add($0, Self.jump) } ?? false
        if distance > Self.absurd || isOutside && distance > Self.jump { stamp = nil }
    }

    /// The duration of a sample in units of its time base as the container gives it; 0, for unknown, where it is longer than the whole film.
    package func credible(_ duration: Int64, track index: Int) -> Int64 {
        guard !mayJump, let length, duration > 0 else { return max(duration, 0) }
        return Ticks.rescale(duration, tracks[index].timeBase, Ticks.microsecond) > Ticks.add(length, Self.jump) ? 0 : duration
    }

    private mutating func move(_ times: inout Times, by step: Int64, _ track: Track) {
        offset = Ticks.add(offset, step)
        shift(&times, by: step, track)
    }
}
