internal import PixelConversion

/// What the viewer is shown over the film when a command has been carried out, in mpv's words.
///
/// Thread-safety: a value.
public struct ScreenReply: Sendable, Hashable {
    /// A message; nil: none.
    public var text: String?
    /// Whether the bar is shown.
    public var hasBar: Bool

    /// Makes a reply; without arguments the viewer is shown nothing.
    public init(_ text: String? = nil, hasBar: Bool = false) {
        self.text = text
        self.hasBar = hasBar
    }

    /// What a prefix such as `no-osd` leaves of it.
    func limited(to manner: CommandText.Manner) -> ScreenReply {
        switch manner {
        case .automatic: self
        case .nothing: ScreenReply()
        case .message: ScreenReply(text)
        case .bar: ScreenReply(hasBar: hasBar)
        case .both: self
        }
    }
}

extension RemoteAction {
    /// `Subtitles: (2) de ("Titel")`.
    private static func name(_ kind: String, _ number: Int, _ track: RemoteTrack?) -> String {
        (["\(kind): (\(number))"] + [track?.language, track?.title.map { "(\"\($0)\")" }].compactMap(\.self)).joined(separator: " ")
    }

    /// What the viewer is shown of this command.
    ///
    /// - Parameter after: What the program does since it was carried out.
    func reply(_ after: RemoteSnapshot) -> ScreenReply {
        func flag(_ value: Bool) -> String { value ? "yes" : "no" }
        switch self {
        case .setPaused, .seek, .seekBy, .seekToLive, .seekToDate, .stepForward, .stepBackward: return ScreenReply(hasBar: true)
        case .setSpeed: return ScreenReply("Speed: " + RemoteProperties.fixed(after.speed, decimals: 2))
        case .setVolume: return ScreenReply("Volume: \(Int((after.volume * 100).rounded()))%" + (after.isMuted ? " (Muted)" : ""))
        case .setMuted: return ScreenReply("Mute: " + flag(after.isMuted))
        case .goToChapter, .moveChapter:
            guard !after.chapters.isEmpty, let index = after.chapter else { return ScreenReply() }
            guard index >= 0 else { return ScreenReply("Chapter: none", hasBar: true) }
            let title = after.chapters[index].title
            return ScreenReply("Chapter: (\(index + 1)) " + (title.isEmpty ? "of \(after.chapters.count)" : title), hasBar: true)
        case .setColor(let control, _):
            let name = control.rawValue
            return ScreenReply("\(name.prefix(1).uppercased())\(name.dropFirst()): \(after.balance[control])")
        case .setFraming(let change): return ScreenReply(change.reply(after.framing))
        case .setSound, .cycleSound:
            guard let track = after.tracks.first(where: { $0.kind == .audio && $0.isSelected }) else { return ScreenReply("Audio: no") }
            return ScreenReply(Self.name("Audio", track.number, track))
        case .setAudioDelay: return ScreenReply("Audio delay: \(Int((after.audioDelay * 1000).rounded())) ms")
        case .setSubtitle, .cycleSubtitles:
            guard let number = after.subtitle else { return ScreenReply("Subtitles: no") }
            return ScreenReply(Self.name("Subtitles", number, after.tracks.first { $0.kind == .sub && $0.number == number }))
        case .setSubtitlesVisible: return ScreenReply("Subtitle visibility: " + flag(after.showsSubtitles))
        case .setSubtitleDelay: return ScreenReply("Subtitle delay: \(Int((after.subtitleDelay * 1000).rounded())) ms")
        case .setSubtitlePosition: return ScreenReply("Subtitle position: \(Int(after.subtitlePosition.rounded()))")
        case .setSubtitleScale: return ScreenReply("Subtitle scale: " + RemoteProperties.fixed(after.subtitleScale, decimals: 2))
        case .setDeinterlacing: return ScreenReply("Deinterlace: " + after.deinterlacing)
        case .setLoopCount: return ScreenReply("Loop current file: " + RemoteProperties.spoken("loop-file", after))
        case .setListTurns: return ScreenReply("Loop: " + RemoteProperties.spoken("loop-playlist", after))
        case .setScreenLevel: return ScreenReply("OSD level: \(after.screenLevel)")
        case .markLoop, .setLoopStart, .setLoopEnd: return ScreenReply("A-B loop: " + RemoteProperties.loop(after))
        default: return ScreenReply()
        }
    }
}
