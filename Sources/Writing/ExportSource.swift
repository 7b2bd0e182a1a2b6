internal import Composition
internal import Decoding
internal import Demuxing
internal import Media
internal import PixelConversion
internal import Reading
internal import SurfacePool

/// Where an export takes frames from.
protocol FrameSource: AnyObject, Sendable {
    var location: String { get }
    var damagedSampleCount: Int { get }
    func nextFrame() throws(ReadingError) -> VideoFrame?
    /// Goes to the frames that are on the screen during a range.
    func reset(to range: MediaTimeRange) throws(ReadingError)
    func cancel()
}

/// Where an export takes sound from.
protocol SoundSource: AnyObject, Sendable {
    var damagedPacketCount: Int { get }
    func nextBuffer() throws(ReadingError) -> SoundBuffer?
    func cancel()
}

extension VideoTrackOutput: FrameSource {
    func reset(to range: MediaTimeRange) throws(ReadingError) { try reset(forReadingTimeRanges: [range]) }
}
extension AudioTrackOutput: SoundSource {}

extension CompositionVideoOutput: FrameSource {
    var location: String { ExportSource.compositionName }
    var damagedSampleCount: Int { 0 }
    func reset(to range: MediaTimeRange) { reset(forReadingTimeRange: range) }
}

extension CompositionSoundOutput: SoundSource {
    var damagedPacketCount: Int { 0 }
}

/// What an encoder needs of the frames that it is given.
struct FrameDemand: Hashable {
    /// So many may be held at once.
    var holdCount: Int
    /// A device encodes: frames may stay in memory that the CPU does not read.
    var isForDevice: Bool
}

/// What is exported: a film or a composition.
struct ExportSource {
    /// For sentences.
    let location: String
    let tracks: [AssetTrack]
    let duration: MediaTime
    let notice: String?
    /// The open film; nil for a composition.
    let reader: (any AssetReading)?
    /// Opens a track of frames.
    let frames: (AssetTrack, MediaTimeRange, FrameDemand) throws(ReadingError) -> any FrameSource
    /// Opens a track of sound.
    let sound: (AssetTrack, MediaTimeRange) throws(ReadingError) -> any SoundSource

    static let compositionName = "the composition"

    init(_ source: SourceReader, _ settings: ExportSettings) {
        let location = source.reader.location
        self.location = location
        tracks = source.reader.tracks
        duration = source.reader.duration
        notice = source.notice
        reader = source.reader
        frames = { track, range, demand throws(ReadingError) in
            let output = try VideoTrackOutput(url: location, track: track.id, options: Self.options(settings, demand))
            if range.start > .zero || range.end.isNumeric { try output.reset(forReadingTimeRanges: [range]) }
            return output
        }
        sound = { track, range throws(ReadingError) in
            let output = try AudioTrackOutput(url: location, track: track.id, options: Self.options(settings, nil))
            if range.start > .zero || range.end.isNumeric { try output.reset(forReadingTimeRanges: [range]) }
            return output
        }
    }

    init(
        _ composition: Composition, _ video: VideoComposition, _ mix: AudioMix, _ compositor: (any VideoCompositing)?, _ settings: ExportSettings
    ) {
        location = Self.compositionName
        duration = composition.duration
        notice = nil
        reader = nil
        frames = { _, range, demand throws(ReadingError) in
            let drawn = FrameDemand(holdCount: demand.holdCount, isForDevice: false)
            let options = CompositionReadingOptions(reading: Self.options(settings, drawn))
            let output = try CompositionVideoOutput(of: composition, video, compositor: compositor, options: options)
            output.reset(forReadingTimeRange: range)
            return output
        }
        sound = { _, range throws(ReadingError) in
            let output = try CompositionSoundOutput(of: composition, mix, options: Self.options(settings, nil))
            output.reset(forReadingTimeRange: range)
            return output
        }
        tracks = composition.resultTracks(video)
    }

    /// - Parameter demand: nil for sound.
    private static func options(_ settings: ExportSettings, _ demand: FrameDemand?) -> ReadingOptions {
        var options = ReadingOptions(source: AssetReaderOptions(cancellation: settings.cancellation), sandbox: settings.sandbox)
        // The numbers of tracks are those of the film that was looked at.
        options.source.lists = .inOneVariant
        if demand?.isForDevice == true {
            // On the encoder's own device, whose surfaces it reads in place.
            options.decoder.specification = DecoderSpecification(hardware: .prefer, device: settings.device)
        } else {
            options.decoder.requirements = OutputRequirements(usages: [.cpu])
        }
        if let demand { options.decoder.holdCount = demand.holdCount }
        return options
    }
}
