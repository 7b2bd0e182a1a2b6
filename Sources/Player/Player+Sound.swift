internal import AudioSink
internal import Demuxing
public import Media
internal import Sandbox
internal import SoundDecoding

// Which sound is heard, and when.

extension Player {
    /// How much later than its times the sound is heard; below zero: earlier. Up to an hour either way.
    public var audioDelay: MediaTime {
        get { settings.withLock { $0.audioDelay } }
        set { if newValue.isNumeric { changeSettings { $0.audioDelay = newValue } } }
    }

    /// The number of the sound track that is heard, counted from 1 as `TrackPreferences` counts; nil: none.
    ///
    /// Setting it seeks to the present position: the frame on the display stays until its sound is decoded. Numbers without a track that can be
    /// played change nothing, nor does anything where the film began without sound, or cannot be sought in: `canChoose(sound:)` tells. A choice for
    /// a film that is being opened is made when that is open.
    public var soundNumber: Int? {
        get {
            guard let film, let id = film.audioTrack, let track = film.tracks.first(where: { $0.id == id }) else { return nil }
            return film.number(of: track)
        }
        set { if let number = newValue { whenOpen { [self] in choose(sound: number) } } }
    }

    private func choose(sound number: Int) {
        guard number != soundNumber, canChoose(sound: number), let source = soundSource, let film else { return }
        source.chooseSound(film.tracks.filter { $0.kind == .audio }[number - 1].id)
        seek(by: MediaTime.zero)
    }

    /// Whether the sound track of this number, counted from 1, can be heard.
    public func canChoose(sound number: Int) -> Bool {
        guard let film, film.isSeekable, soundSource != nil else { return false }
        let tracks = film.tracks.filter { $0.kind == .audio }
        guard tracks.indices.contains(number - 1), tracks[number - 1].isDecodable, case .audio(let format) = tracks[number - 1].format else {
            return false
        }
        return !configuration.sandbox.isWithoutProgram || format.objection == nil
    }

    /// Goes to the next sound track that can be heard, or with -1 to the one before; after the last one the first.
    public func cycleSound(by step: Int) { whenOpen { [self] in moveSound(by: step) } }

    private func moveSound(by step: Int) {
        guard let film, let current = soundNumber else { return }
        let count = film.tracks.count { $0.kind == .audio }
        let others = (1..<max(count, 1)).map { ((current - 1 + step.signum() * $0) % count + count) % count + 1 }
        if step != 0, let next = others.first(where: canChoose) { choose(sound: next) }
    }

    /// The container whose sound plays; nil: there is none, or its sound cannot be chosen.
    private var soundSource: AssetSource? {
        guard let pipeline = storage.withLock({ $0.pipeline }), pipeline.audio != nil, pipeline.source.audio != nil else { return nil }
        return pipeline.container
    }
}
