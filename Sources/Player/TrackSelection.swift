internal import Demuxing
internal import Media
internal import SampleQueue
internal import SoundDecoding

/// Chooses a file's video and audio track by what the viewer prefers. A cover image is shown only when there is no video, or when it is asked for.
struct TrackSelection: Sendable {
    var video: AssetTrack?
    var audio: AssetTrack?

    /// Why the sound is not played; nil when it is, or there is none, or none is wanted.
    private(set) var objection: String?
    /// What the film lacks of what was asked for, as the end of a sentence.
    private(set) var shortfalls: [String] = []

    /// - Parameters:
    ///   - named: Tracks of a file of sound that the program names: one of them plays, unless a number is asked for.
    ///   - takesFamiliarOnly: The sound should be decoded in a process without rights, whose program is not there.
    init(
        tracks: [AssetTrack], preferences: TrackPreferences = TrackPreferences(), playsAudio: Bool, named: Set<Int> = [],
        takesFamiliarOnly: Bool = false
    ) {
        func objection(_ track: AssetTrack) -> String? {
            guard takesFamiliarOnly, case .audio(let format) = track.format else { return nil }
            return format.objection
        }
        func isPlayable(_ track: AssetTrack) -> Bool { track.isDecodable && objection(track) == nil }
        let moving = tracks.filter { $0.kind == .video }, covers = tracks.filter { $0.kind == .attachedPicture }
        let sound = tracks.filter { $0.kind == .audio }
        /// The track of that number; nil, and a shortfall, where there is none that can be played.
        func numbered(_ number: Int, _ all: [AssetTrack], _ name: String) -> AssetTrack? {
            guard number > 0, number <= all.count else {
                shortfalls.append("has \(all.count == 1 ? "1 \(name) track" : "\(all.count) \(name) tracks"), not \(number)")
                return nil
            }
            if isPlayable(all[number - 1]) { return all[number - 1] }
            shortfalls.append("has \(name) track \(number) in a form that is not played")
            return nil
        }
        func automatic(_ candidates: [AssetTrack], _ languages: [String] = []) -> AssetTrack? {
            TrackPreferences.best(candidates.filter(isPlayable), languages: languages)
        }
        switch preferences.video {
        case .none: break
        case .automatic: video = automatic(moving) ?? automatic(covers)
        case .number(let number): video = numbered(number, moving + covers, "video") ?? automatic(moving) ?? automatic(covers)
        }
        guard playsAudio else { return }
        switch preferences.audio {
        case .none: return
        case .automatic:
            audio = automatic(sound.filter { named.contains($0.id) }) ?? automatic(sound, preferences.audioLanguages)
        case .number(let number): audio = numbered(number, sound, "sound") ?? automatic(sound)
        }
        if audio == nil { self.objection = tracks.lazy.compactMap(objection).first }
    }

    /// `video track 0 (h264), audio track 1 (aac)`.
    var summary: String {
        func name(_ track: AssetTrack) -> String {
            let codec =
                switch track.format {
                case .video(let format): format.codec.name
                case .audio(let format): format.codecName
                case .other(let name): name
                }
            return "\(track.kind.rawValue) track \(track.id) (\(codec))"
        }
        return [video, audio].compactMap { $0.map(name) }.joined(separator: ", ")
    }
}
