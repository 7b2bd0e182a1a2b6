internal import Demuxing
internal import Encoding
internal import Media

/// Which tracks of a film are exported, and how.
struct ExportPlan: Sendable {
    /// In the order of the film; nil copies a track.
    private(set) var tracks: [(track: AssetTrack, codec: ExportSettings.Codec?)] = []
    /// What is left out.
    private(set) var notices: [String] = []

    /// - Parameter cover: The track that the writer has as its cover.
    /// - Throws: `.settings` when nothing is left, or a container cannot hold a codec that was asked for.
    init(_ source: ExportSource, _ settings: ExportSettings, _ container: FileContainer, path: String, cover: Int?) throws(ExportError) {
        if let unknown = settings.tracks?.subtracting(source.tracks.map(\.id)).min() {
            throw .settings("\(source.location): it has no track \(unknown).")
        }
        var left: [AssetTrack] = []
        let soundOnly = path.lowercased().hasSuffix(".m4a") || path.lowercased().hasSuffix(".mka")
        for track in source.tracks where settings.tracks?.contains(track.id) ?? !track.isInsideFrames {
            var treatment = ExportSettings.Treatment.copy
            if track.kind == .video { treatment = soundOnly ? .leaveOut : settings.video }
            if track.kind == .audio { treatment = settings.audio }
            switch treatment {
            case .leaveOut: continue
            case .usual:
                if let codec = try Self.usual(track.kind, container, mustEncode: source.reader == nil) {
                    tracks.append((track, codec))
                    continue
                }
            case .encode(let codec):
                try Self.check(codec, track.kind, container, path)
                tracks.append((track, codec))
                continue
            case .copy: break
            }
            guard source.reader != nil else { throw .settings("\(source.location): what is composed can only be encoded, not copied.") }
            if !track.isInsideFrames, container.canHold(track.kind, track.format) {
                tracks.append((track, nil))
            } else if source.reader.map({ track.holdsChapters(of: $0) }) != true, track.id != cover {
                left.append(track)
            }
        }
        guard !tracks.isEmpty else { throw .settings("\(path): nothing of the film is left to be written.") }
        if !left.isEmpty {
            let names = left.map { "\($0.id) (\(FilmCopy.codec($0)))" }.joined(separator: ", ")
            notices.append("\(path): left out, as \(container.rawValue) cannot hold it: track \(names).")
        }
        if source.tracks.contains(where: \.isInsideFrames), tracks.contains(where: { $0.track.kind == .video && $0.codec != nil }) {
            notices.append("\(path): the film's closed captions are left out: they lie in frames that are encoded anew.")
        }
        guard source.reader?.isSeekable ?? true || tracks.allSatisfy({ $0.codec == nil }) else {
            throw .settings("\(source.location): only a film that can be opened more than once is encoded anew; a pipe can be copied.")
        }
    }

    /// - Parameter mustEncode: Where the sound is usually kept as it is, it is encoded without loss.
    private static func usual(
        _ kind: TrackDescription.Kind, _ container: FileContainer, mustEncode: Bool
    ) throws(ExportError) -> ExportSettings.Codec? {
        if kind == .audio {
            guard let names = container.usualAudio ?? (mustEncode ? ["flac"] : nil) else { return nil }
            if let name = names.first(where: { !SoundEncoders.names(for: $0).isEmpty }) { return ExportSettings.Codec(name: name) }
            throw .settings(
                "This FFmpeg encodes neither \(names.joined(separator: " nor ")); it encodes \(SoundEncoders.usualCodecs.joined(separator: ", ")).")
        }
        let codecs = container.usualVideo
        if let codec = codecs.first(where: { !Encoders.names(for: $0).isEmpty }) { return ExportSettings.Codec(name: codec.name) }
        let list = Encoders.usualCodecs.map(\.name).joined(separator: ", ")
        throw .settings("This FFmpeg encodes neither \(codecs.map(\.name).joined(separator: " nor ")); it encodes \(list).")
    }

    private static func check(
        _ codec: ExportSettings.Codec, _ kind: TrackDescription.Kind, _ container: FileContainer, _ path: String
    ) throws(ExportError) {
        func canHold(_ name: String) -> Bool {
            container.canHold(
                kind,
                kind == .audio
                    ? .audio(AudioFormat(codecName: name, sampleRate: 48_000, channelCount: 2))
                    : .video(VideoFormat(codec: VideoCodec(name: name), codedSize: PixelSize(width: 16, height: 16))))
        }
        guard !canHold(codec.name) else { return }
        let all = kind == .audio ? SoundEncoders.usualCodecs : Encoders.usualCodecs.map(\.name)
        let list = all.filter(canHold).joined(separator: ", ")
        throw .settings("\(path): \(container.rawValue) cannot hold \(codec.name); of what can be encoded it holds \(list).")
    }
}
