public import CScanout
internal import Demuxing
internal import Media
internal import Player

/// Copies what the container says of the film to `film`. SCANOUT_NOTHING while no film is open.
@_cdecl("scanout_get_film")
public func scanout_get_film(_ player: OpaquePointer?, _ film: UnsafeMutablePointer<scanout_film_info>?) -> scanout_result {
    unsafe answer(player, film) { description, texts in
        var info = unsafe scanout_film_info()
        unsafe info.track_count = UInt32(description.tracks.count)
        unsafe info.chapter_count = UInt32(description.chapters.count)
        unsafe info.metadata_count = UInt32(description.metadata.count)
        unsafe info.duration = description.duration.forC
        unsafe info.container = texts.pointer(to: description.containerName)
        unsafe info.title = texts.pointer(to: description.title)
        unsafe info.is_seekable = description.isSeekable ? 1 : 0
        return unsafe info
    }
}

/// Copies what the container says of the track at `index` to `track`. SCANOUT_END behind the last one.
@_cdecl("scanout_get_track")
public func scanout_get_track(
    _ player: OpaquePointer?, _ index: UInt32, _ track: UnsafeMutablePointer<scanout_track_info>?
) -> scanout_result {
    let subtitles = unsafe PlayerHandle.borrow(player)?.player.subtitleNumber
    return unsafe answer(player, track) { film, texts in
        guard index < film.tracks.count else { return nil }
        return unsafe scanout_track_info(film.tracks[Int(index)], of: film, subtitles: subtitles, texts)
    }
}

/// Copies the chapter at `index` to `chapter`. SCANOUT_END behind the last one.
@_cdecl("scanout_get_chapter")
public func scanout_get_chapter(
    _ player: OpaquePointer?, _ index: UInt32, _ chapter: UnsafeMutablePointer<scanout_chapter>?
) -> scanout_result {
    unsafe answer(player, chapter) { film, texts in
        guard index < film.chapters.count else { return nil }
        let described = film.chapters[Int(index)]
        var result = unsafe scanout_chapter()
        unsafe result.start = described.range.start.forC
        unsafe result.end = described.range.end.forC
        unsafe result.title = texts.pointer(to: described.title)
        return unsafe result
    }
}

/// Copies the text at `index`, in the order of their names, to `metadata`. SCANOUT_END behind the last one.
@_cdecl("scanout_get_metadata")
public func scanout_get_metadata(
    _ player: OpaquePointer?, _ index: UInt32, _ metadata: UnsafeMutablePointer<scanout_metadata>?
) -> scanout_result {
    unsafe answer(player, metadata) { film, texts in
        guard index < film.metadata.count else { return nil }
        let name = film.metadata.keys.sorted()[Int(index)]
        var result = unsafe scanout_metadata()
        unsafe result.name = texts.pointer(to: name)
        unsafe result.text = texts.pointer(to: film.metadata[name])
        return unsafe result
    }
}

/// Shows this track of subtitles, or none with 0. Returns at once. SCANOUT_END when there is no such track.
@_cdecl("scanout_set_subtitle_track")
public func scanout_set_subtitle_track(_ player: OpaquePointer?, _ number: Int32) -> scanout_result {
    guard number >= 0, let player = unsafe PlayerHandle.borrow(player)?.player else { return SCANOUT_ERROR_ARGUMENT }
    guard number <= player.subtitleCount else { return player.film == nil ? SCANOUT_NOTHING : SCANOUT_END }
    player.subtitleNumber = number == 0 ? nil : Int(number)
    return SCANOUT_OK
}

/// Writes what `describe` makes of the film to the program's struct; SCANOUT_END where that is nil.
private func answer<T: BitwiseCopyable>(
    _ player: OpaquePointer?, _ place: UnsafeMutablePointer<T>?, _ describe: (FilmDescription, FilmStrings) -> T?
) -> scanout_result {
    guard let handle = unsafe PlayerHandle.borrow(player), unsafe place != nil else { return SCANOUT_ERROR_ARGUMENT }
    guard let film = handle.player.film else { return SCANOUT_NOTHING }
    guard let answer = describe(film, handle.strings) else { return SCANOUT_END }
    return unsafe CallerStruct.write(answer, to: place) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

extension scanout_track_info {
    /// - Parameter subtitles: the number of the subtitles that are shown.
    init(_ track: AssetTrack, of film: FilmDescription, subtitles: Int?, _ texts: FilmStrings) {
        unsafe self.init()
        let number = film.number(of: track)
        unsafe kind = scanout_track_kind(track.kind).rawValue
        unsafe id = UInt32(track.id)
        unsafe self.number = UInt32(number ?? 0)
        unsafe language = texts.pointer(to: track.language)
        unsafe title = texts.pointer(to: track.title)
        unsafe duration = track.duration.forC
        unsafe bit_rate = track.bitRate
        unsafe is_default = track.isDefault ? 1 : 0
        unsafe is_decodable = track.isDecodable ? 1 : 0
        let isSelected = track.kind == .subtitle ? number != nil && number == subtitles : [film.videoTrack, film.audioTrack].contains(track.id)
        unsafe is_selected = isSelected ? 1 : 0
        unsafe is_forced = track.isForced ? 1 : 0
        unsafe is_hearing_impaired = track.isHearingImpaired ? 1 : 0
        switch track.format {
        case .video(let format): unsafe describe(format, texts)
        case .audio(let format): unsafe describe(format, texts)
        case .other(let name): unsafe codec = texts.pointer(to: name)
        }
    }

    private mutating func describe(_ format: VideoFormat, _ texts: FilmStrings) {
        unsafe codec = texts.pointer(to: format.codec.name)
        unsafe (width, height) = (UInt32(clamping: format.visible.width), UInt32(clamping: format.visible.height))
        if format.frameRate.isKnown { unsafe frame_rate = format.frameRate.forC }
        if format.attributes.pixelAspect.isKnown { unsafe pixel_aspect = format.attributes.pixelAspect.forC }
        unsafe rotation = UInt32(format.attributes.orientation.rotation.rawValue)
    }

    private mutating func describe(_ format: AudioFormat, _ texts: FilmStrings) {
        unsafe codec = texts.pointer(to: format.codecName)
        unsafe sample_rate = UInt32(clamping: format.sampleRate)
        unsafe channel_count = UInt32(clamping: format.channelCount)
        unsafe channel_layout = texts.pointer(to: format.channelLayout.isEmpty ? nil : format.channelLayout)
    }
}

extension Ratio {
    fileprivate var forC: (UInt32, UInt32) { (UInt32(clamping: numerator), UInt32(clamping: denominator)) }
}

extension scanout_track_kind {
    init(_ kind: AssetTrack.Kind) {
        self =
            switch kind {
            case .video: SCANOUT_TRACK_VIDEO
            case .audio: SCANOUT_TRACK_AUDIO
            case .subtitle: SCANOUT_TRACK_SUBTITLE
            case .attachedPicture: SCANOUT_TRACK_COVER
            case .other: SCANOUT_TRACK_OTHER
            }
    }
}
