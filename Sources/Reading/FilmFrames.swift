internal import Decoding
internal import Demuxing
internal import Media
internal import SampleQueue
internal import SurfacePool

/// Finds the frames of a film's track at any times.
///
/// Thread-safety: as `FrameFinding`.
final class FilmFrames: FrameFinding, @unchecked Sendable {
    let notice: String?
    private let location: String
    private let options: FrameGeneratorOptions
    private let stream: FrameStream
    /// Finds out where decoding would begin for a later time; opened when there is one.
    private var scout: (any AssetReading)?
    /// The frame on the screen at the time asked for last, and the one after it where it is known.
    private var current: SharedFrame?
    private var following: SharedFrame?

    init(_ location: String, _ trackID: Int?, _ options: FrameGeneratorOptions) throws(ReadingError) {
        let source = try options.reading.open(location)
        self.location = location
        self.options = options
        var notice = source.notice
        stream = try FrameStream(source.reader, source.track(trackID, .video), options.reading) { notice = notice ?? $0 }
        self.notice = notice
    }

    deinit { stream.session.invalidate() }

    var duration: MediaTime { stream.reader.duration }
    var cost: Int { stream.samplesDecoded }

    func forget() { (current, following) = (nil, nil) }

    func cancel() { stream.cancel() }

    // MARK: Finding

    func find(_ time: MediaTime) throws(ReadingError) -> SharedFrame {
        if try !mayGoOn(to: time) { try jump(to: time) }
        if options.toleranceBefore > .zero, let current, current.presentationTime + options.toleranceBefore >= time { return current }
        while let next = if let following { following } else { try stream.next() } {
            following = next
            // At least the first frame of the film is shown before the second.
            if current != nil, next.presentationTime > time { break }
            current = next
            following = nil
        }
        guard let current else { throw nothing(at: time) }
        switch options.selection {
        case .onScreen:
            if following == nil, current.duration.isNumeric, current.presentationTime + current.duration <= time { throw nothing(at: time) }
            return current
        case .next:
            guard let frame = current.presentationTime >= time ? current : following else { throw nothing(at: time) }
            return frame
        case .nearest:
            guard let following, following.presentationTime - time < time - current.presentationTime else { return current }
            return following
        }
    }

    private func nothing(at time: MediaTime) -> ReadingError {
        // The film has it, but the system had no memory for it.
        if let damage = stream.lastDamage, damage.code == .decoding(.outOfSurfaces) { return damage }
        return ReadingError(.noFrame, "\(location): there is no frame at \(time).", time: time)
    }

    private func jump(to time: MediaTime) throws(ReadingError) {
        (current, following) = (nil, nil)
        try stream.begin(at: max(time, .zero), tolerance: options.toleranceBefore)
        current = try stream.next()
    }

    /// Whether decoding on leads to `time` with less work than going to the sync sample before it.
    private func mayGoOn(to time: MediaTime) throws(ReadingError) -> Bool {
        guard let current, time >= current.presentationTime else { return false }
        if let following, time <= following.presentationTime { return true }
        let distance = time - max(stream.decodedUntil, current.presentationTime)
        if distance < Self.shortWay || !stream.reader.isSeekable { return true }
        guard let sync = try landing(time) else { return true }
        return sync <= stream.decodedUntil
    }

    /// Half a second: looking for a sync sample costs about as much as decoding so far.
    private static let shortWay = MediaTime(value: 1, timescale: 2)

    /// The decode time of the sample with which decoding would begin for the frame at `time`; nil when it is unknown.
    private func landing(_ time: MediaTime) throws(ReadingError) -> MediaTime? {
        if scout == nil {
            let reader = try options.reading.open(location).reader
            reader.select([stream.track.id])
            scout = reader
        }
        guard let scout else { return nil }
        do throws(AssetError) {
            try scout.seek(to: time)
            guard let sample = try scout.nextSample(), sample.decodeTime.isNumeric else { return nil }
            return sample.decodeTime
        } catch {
            return nil
        }
    }
}
