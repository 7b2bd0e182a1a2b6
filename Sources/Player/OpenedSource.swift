internal import Demuxing
internal import DisplaySink
internal import Media
internal import SampleQueue
internal import Sandbox

/// A film that has been opened, before anything plays it: its samples and what is known of the tracks chosen.
struct OpenedSource: Sendable {
    var samples: any SampleSource
    var location: String
    var title: String
    var beginning = MediaTime.zero
    /// Not numeric when the film has no known end.
    var duration = MediaTime.indefinite
    var videoTrack: Int?
    var audio: (track: Int, format: AudioFormat)?
    /// The film's usual distance between pictures; a 25th of a second where nothing says.
    var frameDuration = MediaTime(value: 1, timescale: 25)
    /// Pictures a second, where the film says so.
    var frameRate = Ratio.unknown
    /// One sentence for whoever asks for details.
    var summary: String
    /// One that the viewer should see.
    var notice: String?

    /// Opens a file or URL with libavformat and chooses its tracks.
    static func container(
        _ location: String, configuration: PlayerConfiguration, hearsSound: Bool, cancellation: AssetCancellation
    ) throws(AssetError) -> OpenedSource {
        let (reader, notice) = try reader(location, AssetReaderOptions(cancellation: cancellation), configuration.sandbox)
        let selection = TrackSelection(tracks: reader.tracks, playsAudio: configuration.playsAudio && hearsSound)
        guard selection.video != nil || selection.audio != nil else {
            guard configuration.playsAudio, !hearsSound, reader.tracks.contains(where: { $0.kind == .audio && $0.isDecodable }) else {
                throw AssetError.noPlayableTrack(location)
            }
            throw AssetError(.noPlayableTrack, "\(location) holds only sound, which is not played where pictures are taken as fast as they come.")
        }
        let start = configuration.startTime ?? .zero
        let end = configuration.playDuration.map { start + $0 } ?? .positiveInfinity
        reader.select(Set([selection.video?.id, selection.audio?.id].compactMap { $0 }))
        // What lies before the start is not played, but a viewer may go back to it.
        reader.timeRange = MediaTimeRange(start: .zero, end: end)
        if start > .zero { try reader.seek(to: start) }
        var opened = OpenedSource(
            samples: AssetSource(reader: reader), location: location, title: reader.title ?? lastComponent(location), beginning: start,
            duration: reader.duration.isNumeric ? min(reader.duration, end) : end.isNumeric ? end : .indefinite,
            videoTrack: selection.video?.id, summary: "\(location): \(selection.summary).")
        opened.notice = notice
        if let track = selection.audio, case .audio(let format) = track.format { opened.audio = (track.id, format) }
        if case .video(let format) = selection.video?.format, format.frameRate.isKnown {
            opened.frameRate = format.frameRate
            opened.frameDuration = MediaTime(value: Int64(format.frameRate.denominator), timescale: format.frameRate.numerator)
        }
        return opened
    }

    /// A reader in a process of its own where that is wished for, in this one where it is not or cannot be had and need not be; then with
    /// one sentence that says so.
    static func reader(
        _ location: String, _ options: AssetReaderOptions, _ sandbox: SandboxOptions
    ) throws(AssetError) -> (any AssetReading, notice: String?) {
        guard sandbox.policy.includesDemuxer else { return (try AssetReader(url: location, options: options), nil) }
        do throws(AssetError) {
            return (try SandboxedReader(url: location, options: options, sandbox: sandbox), nil)
        } catch {
            guard error.code == .sandbox, sandbox.policy != .require else { throw error }
            return (try AssetReader(url: location, options: options), "Reading without a sandbox: \(error.description)")
        }
    }

    /// Opens a file, or standard input (`-`), as a raw stream of start-code bytes. It cannot seek.
    static func raw(_ location: String, codec: VideoCodec) throws(AssetError) -> OpenedSource {
        guard let known = NALCodec(codec) else { throw AssetError(.unrecognised, "\(location): \(codec) has no raw form that can be read.") }
        return OpenedSource(
            samples: try ElementaryStreamSource(path: location, codec: known), location: location,
            title: location == "-" ? "standard input" : lastComponent(location), videoTrack: 0, summary: "\(location): a raw stream (\(codec)).")
    }

    private static func lastComponent(_ location: String) -> String { location.split(separator: "/").last.map(String.init) ?? location }
}
