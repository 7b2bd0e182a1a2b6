internal import Bitstream
internal import Demuxing
internal import DisplaySink
internal import Media
internal import SampleQueue
internal import Sandbox
internal import SoundDecoding
internal import Subtitles

/// A film that has been opened, before anything plays it: its samples and what is known of the tracks chosen.
struct OpenedSource: Sendable {
    var samples: any SampleSource
    var location: String
    var title: String
    /// What its container says; nil where there is none.
    var description: FilmDescription?
    /// Where it begins, and begins again when it loops.
    var beginning = MediaTime.zero
    /// Where it begins this time, because the viewer left it there; nil: at its beginning.
    var resumedAt: MediaTime?
    /// Not numeric when the film has no known end.
    var duration = MediaTime.indefinite
    var videoTrack: Int?
    var audio: (track: Int, format: AudioFormat)?
    /// The tracks of subtitles and the one to show; nil: none are shown.
    var subtitles: SubtitleSelection?
    /// What drawing them takes.
    var subtitleFilm = SubtitleEngine.Film(storage: PixelSize(width: 0, height: 0))
    /// The usual time between two frames; 1/25 s when the film does not state it.
    var frameDuration = MediaTime(value: 1, timescale: 25)
    /// Frames per second; unknown when the film does not state it.
    var frameRate = Ratio.unknown
    /// What has come of it from a web server.
    var progress = FetchProgress()
    /// What reads it where it is made while it is played.
    var live: LiveSource?
    /// The camera that it is, whose frames come when they come.
    var camera: CameraSource?
    /// The composition that it is, whose frames are drawn.
    var composed: ComposedSource?
    /// One sentence for verbose output.
    var summary: String
    /// For the viewer, a sentence each.
    var notices: [String] = []

    /// The part that a film plays again that loops, if its end is known.
    var turn: MediaTimeRange? { duration.isNumeric ? MediaTimeRange(start: beginning, end: max(duration, beginning)) : nil }

    /// Of all of the film, also where only a part is played; indefinite where nobody knows.
    var length: MediaTime { description?.duration ?? .indefinite }

    /// Whether it is a container, which may be read again from its beginning, and not a still image, which has its own ways to last.
    var canLoop: Bool { samples is AssetSource || samples is BegunSource }

    /// Whether another film may follow it without a gap, and it another.
    var canJoin: Bool { canLoop || samples is StillSource }

    /// Opens a film with libavformat and chooses its tracks.
    static func container(
        _ film: FilmLocation, configuration: PlayerConfiguration, hearsSound: Bool, readsSubtitles: Bool = false, shownSize: PixelSize? = nil,
        cancellation: AssetCancellation
    ) throws(AssetError) -> OpenedSource {
        let location = film.name
        var options = AssetReaderOptions(network: configuration.network, cancellation: cancellation)
        let progress = FetchProgress()
        options.progress = progress
        options.shownSize = shownSize
        options.lists = .adaptively
        if case .bytes(let source, _) = film { options.source = ProgramBytes(source, cancellation) }
        let (opening, sourceNotice) = try open(film, options, configuration.sandbox)
        let wantsSound = configuration.playsAudio && hearsSound && configuration.tracks.audio != .none
        let whole = wantsSound ? SoundFiles(added: opening, film, configuration, options) : SoundFiles(reader: opening)
        let reader = whole.reader
        let selection = TrackSelection(
            tracks: reader.tracks, preferences: configuration.tracks, playsAudio: configuration.playsAudio && hearsSound, named: whole.first,
            takesFamiliarOnly: configuration.sandbox.isWithoutProgram)
        // One was started while it was not known whether the film has sound.
        if selection.audio == nil { SoundProcessLaunch.discard(configuration.sandbox) }
        guard selection.video != nil || selection.audio != nil else {
            if let objection = selection.objection {
                throw AssetError(.noPlayableTrack, "\(location): its sound is not played without the decoder program: \(objection).")
            }
            if configuration.tracks.video == .none, reader.tracks.contains(where: { $0.kind == .video && $0.isDecodable }) {
                throw AssetError(.noPlayableTrack, "\(location) has no sound that is played, and its frames are not wanted.")
            }
            guard configuration.playsAudio, !hearsSound, reader.tracks.contains(where: { $0.kind == .audio && $0.isDecodable }) else {
                throw AssetError.noPlayableTrack(location)
            }
            throw AssetError(.noPlayableTrack, "\(location) holds only sound, which is not played where frames are taken as fast as they come.")
        }
        let (subtitles, subtitleObjection) =
            selection.video?.kind == .video
            ? chooseSubtitles(reader, film, configuration, spoken: selection.audio?.language, areRead: readsSubtitles) : (nil, nil)
        let texts = (subtitles?.tracks ?? []).compactMap(\.filmTrack)
        let sound = selection.audio?.id, others = Set([selection.video?.id].compactMap(\.self) + texts)
        let text = subtitles.flatMap { subtitles in subtitles.chosen.flatMap { subtitles.tracks[$0].filmTrack } }
        // What a program takes is as it was recorded.
        let loudness = configuration.audioExporter == nil ? configuration.replayGain : ReplayGainOptions()
        let samples = AssetSource(reader: reader, sound: sound, others: others, text: text, replayGain: loudness)
        // What the viewer asks for comes before what the film asks for.
        let part = FilmPart(
            configuration, duration: reader.duration, chapters: reader.chapters, dates: reader.programDates,
            usualStart: preferredStart(of: reader, first: selection.video?.id))
        let (start, end) = (part.start, part.end)
        // What lies before the start is not played, but a viewer may go back to it.
        reader.timeRange = MediaTimeRange(start: .zero, end: end)
        if start > .zero { try samples.seek(to: start) }
        var opened = OpenedSource(
            samples: samples, location: location, title: reader.title ?? film.title ?? configuration.fallbackTitle ?? lastComponent(location),
            beginning: start,
            duration: reader.duration.isNumeric ? min(reader.duration, end) : end.isNumeric ? end : .indefinite,
            videoTrack: selection.video?.id, summary: "\(location): \(selection.summary).")
        opened.description = FilmDescription(reader, selection)
        let lacking = selection.shortfalls + [subtitles?.shortfall].compactMap(\.self) + part.shortfalls
        let shortfalls = lacking.isEmpty ? subtitleObjection : "\(location) " + lacking.joined(separator: ", and ") + "."
        var fontObjection: String?
        if let subtitles, !subtitles.tracks.isEmpty {
            opened.subtitles = subtitles
            if case .video(let format) = selection.video?.format { opened.subtitleFilm.storage = format.visible.size }
            if subtitles.tracks.contains(where: { $0.codec.flatMap(SubtitleForm.init) == .styled }) {
                do throws(AssetError) {
                    opened.subtitleFilm.fonts = try reader.fonts
                } catch {
                    fontObjection = "The subtitles are not drawn with the film's own fonts, which cannot be read: \(error)"
                }
            }
        }
        opened.progress = progress
        let notice = sourceNotice ?? selection.objection.map { "The sound is not played without the decoder program: \($0)." } ?? shortfalls
        opened.notices = [notice, fontObjection].compactMap(\.self) + whole.notices
        if let track = selection.audio, case .audio(let format) = track.format { opened.audio = (track.id, format) }
        if case .video(let format) = selection.video?.format { opened.take(format.frameRate) }
        if hearsSound, let span = configuration.imageDuration { try opened.hold(reader, for: min(span, configuration.playDuration ?? span)) }
        if let time = configuration.resumption?.time { try opened.resume(reader, at: time) }
        opened.followLive(reader, configuration, options) {
            AssetSource(reader: $0, sound: sound, others: others, text: text, replayGain: loudness)
        }
        return opened
    }

    /// A minute: a rate of less than one frame a minute is taken for damage.
    private static let longestFrame = MediaTime(value: 60, timescale: 1)

    /// Takes the frame rate that the container states, unless it is unknown or damaged.
    private mutating func take(_ rate: Ratio) {
        guard rate.isKnown else { return }
        let duration = MediaTime(value: Int64(rate.denominator), timescale: rate.numerator)
        if duration <= Self.longestFrame { (frameRate, frameDuration) = (rate, duration) }
    }

    private static func open(
        _ film: FilmLocation, _ options: AssetReaderOptions, _ sandbox: SandboxOptions
    ) throws(AssetError) -> (reader: any AssetReading, notice: String?) {
        if case .page(let page) = film { return try page.open(options, sandbox) }
        let source = try SourceReader(opening: film.name, options, sandbox)
        return (source.reader, source.notice)
    }

    /// Where a list asks players to begin, if that can be gone to. Reads on until the first frame has come, from which lists count: sound may
    /// begin before it.
    private static func preferredStart(of reader: any AssetReading, first video: Int?) -> MediaTime {
        guard let start = reader.preferredStart, reader.isSeekable, start < reader.duration else { return .zero }
        guard let video else { return start }
        for _ in 0..<longestLook {
            guard let sample = try? reader.nextSample() else { break }
            if sample.trackID == video, sample.shownTime.isNumeric { return start + max(sample.shownTime, .zero) }
        }
        return start
    }

    /// Samples that are looked at for the first frame: more than five seconds of sound.
    private static let longestLook = 512

    /// Begins this time where the viewer left the film, if that still lies in it. Stills, and films that cannot be sought in, begin as always.
    private mutating func resume(_ reader: any AssetReading, at time: MediaTime) throws(AssetError) {
        guard samples is AssetSource, reader.isSeekable, duration.isNumeric, time > beginning, time < duration else { return }
        do throws(AssetError) {
            try samples.seek(to: time)
            resumedAt = time
        } catch { try samples.seek(to: beginning) }
    }

    /// The film's subtitles, or why they are not shown, as a sentence.
    private static func chooseSubtitles(
        _ reader: any AssetReading, _ film: FilmLocation, _ configuration: PlayerConfiguration, spoken: String?, areRead: Bool
    ) -> (SubtitleSelection?, objection: String?) {
        guard areRead else {
            var isWanted = !configuration.subtitles.files.isEmpty
            if case .number = configuration.tracks.subtitles { isWanted = true }
            return (nil, isWanted ? "Subtitles are shown in a window or on a monitor only, and given to programs that ask for them." : nil)
        }
        let tracks = SubtitleSelection.tracks(of: reader, film, options: configuration.subtitles)
        return (SubtitleSelection(tracks, preferences: configuration.tracks, spoken: spoken), nil)
    }

    /// Opens a file, an address, or standard input (`-`), as a raw stream of start-code bytes. It cannot seek. Blocks.
    static func raw(
        _ film: FilmLocation, codec: VideoCodec, _ network: NetworkOptions, _ cancellation: AssetCancellation
    ) throws(AssetError) -> OpenedSource {
        let location = film.name
        guard case .place = film else { throw AssetError(.cannotOpen, "\(location): a raw stream is read from a file or a pipe by its name.") }
        guard let known = NALCodec(codec) else { throw AssetError(.unrecognised, "\(location): \(codec) has no raw form that can be read.") }
        return OpenedSource(
            samples: try ElementaryStreamSource(location, codec: known, AssetReaderOptions(network: network, cancellation: cancellation)),
            location: location,
            title: location == "-" ? "standard input" : lastComponent(location), videoTrack: 0, summary: "\(location): a raw stream (\(codec)).")
    }

    static func lastComponent(_ location: String) -> String {
        let name = location.withoutPasswords
        return name.split(separator: "/").last.map(String.init) ?? name
    }
}
