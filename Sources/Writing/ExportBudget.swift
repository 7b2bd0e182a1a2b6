internal import Demuxing
internal import Media

/// The rate of video at which a film has the size that is wanted. A pure value.
struct ExportBudget: Sendable {
    /// Bytes of the file.
    var byteCount: Int
    /// Seconds.
    var duration: Double
    /// Bits a second of all other tracks.
    var otherRates: [Int] = []
    /// Samples a second of all tracks.
    var samplesPerSecond: Double
    var container: FileContainer

    /// Of a container's head, without what grows with the film.
    private static let head = 2000.0

    /// Bytes that the container spends on a sample: its row in the index, or its header.
    private var bytesPerSample: Double {
        switch container {
        case .mp4, .mov, .dash: 14
        case .matroska, .webm: 8
        // Packets of 188 bytes: 4 of them are header, and the last one of a sample is half empty.
        case .mpegTS: 120
        }
    }

    /// Bytes that the container spends on a second: MPEG-TS repeats its two tables ten times, in a packet each.
    private var bytesPerSecond: Double { container == .mpegTS ? 2 * 188 * 10 : 0 }

    /// Bits a second for all tracks of video; nil when nothing is left for them.
    var videoRate: Int? {
        guard duration > 0 else { return nil }
        var share = 1.0
        if container == .mpegTS { share = 184.0 / 188 }
        let bytes = (Double(byteCount) - Self.head - (bytesPerSample * samplesPerSecond + bytesPerSecond) * duration) * share
        let rate = bytes * 8 / duration - Double(otherRates.reduce(0, +))
        return rate >= 1000 ? Int(rate) : nil
    }

    /// The rate of each track of video for `ExportSettings.byteCount`.
    ///
    /// - Parameter soundRate: Of a track of sound that is encoded, by its number; nil where it follows from the sound.
    /// - Throws: `.settings` where the length of the film or the rate of a track is not known, and where nothing is left for video.
    static func rate(
        _ plan: ExportPlan, _ source: ExportSource, _ settings: ExportSettings, _ container: FileContainer, soundRate: (Int) -> Int?
    ) throws(ExportError) -> Int {
        guard settings.videoBitRate == nil, settings.videoQuality == nil else {
            throw .settings("The size of a file says what the rate of its video is: a rate or a quality beside it has no meaning.")
        }
        let range = settings.timeRange, end = min(range.end, source.duration.isNumeric ? source.duration : range.end)
        guard end.isNumeric, end > range.start else {
            throw .settings("\(source.location): its length is not known, so no rate follows from the size of the file.")
        }
        var budget = ExportBudget(
            byteCount: settings.byteCount ?? 0, duration: (end - range.start).seconds, samplesPerSecond: 0, container: container)
        var videoCount = 0
        for (track, codec) in plan.tracks where track.kind == .video || track.kind == .audio {
            switch track.format {
            case .video(let format): budget.samplesPerSecond += format.frameRate.isKnown ? format.frameRate.doubleValue : 25
            // A sample of AAC is 1024 frames of sound; other codecs are of the same order.
            case .audio(let format): budget.samplesPerSecond += Double(format.sampleRate) / 1024
            case .other: break
            }
            if codec != nil, track.kind == .video {
                videoCount += 1
                continue
            }
            guard let rate = codec == nil ? (track.bitRate > 0 ? Int(track.bitRate) : nil) : soundRate(track.id) else {
                throw .settings("\(source.location): the rate of track \(track.id) is not known beforehand, so none follows for the video.")
            }
            budget.otherRates.append(rate)
        }
        guard videoCount > 0 else { throw .settings("\(source.location): no video is encoded, so its rate cannot give the file a size.") }
        guard let rate = budget.videoRate else {
            throw .settings("\(budget.byteCount) bytes are too few for \(end - range.start) of film: nothing is left for the video.")
        }
        return rate / videoCount
    }
}
