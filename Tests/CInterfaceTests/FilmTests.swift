import CScanout
import Foundation
import Media
import TestSupport
import Testing

/// What is in a film, and the choice of its tracks, through the C interface.
@Suite struct FilmTests {
    /// A film with two sounds, two subtitles, two chapters and texts, made once.
    private static let rich = Result { try makeRich() }

    private static func makeRich() throws -> String {
        let path = ProcessFolder.path("rich.mkv")
        let texts = ProcessFolder.url.appendingPathComponent("texts"), subtitles = texts.appendingPathExtension("srt")
        try """
        ;FFMETADATA1
        title=Übung
        artist=Nobody
        [CHAPTER]
        TIMEBASE=1/1000
        START=0
        END=400
        title=First
        [CHAPTER]
        TIMEBASE=1/1000
        START=400
        END=1000
        title=Zweites
        """.write(to: texts, atomically: true, encoding: .utf8)
        try "1\n00:00:00,100 --> 00:00:00,900\nHello\n".write(to: subtitles, atomically: true, encoding: .utf8)
        let sound = ["-f", "lavfi", "-t", "1", "-i"], language = { (track: String, name: String) in ["-metadata:s:\(track)", "language=\(name)"] }
        let inputs = ["-i", TestAssets.path("plain.mp4")] + sound + ["sine=440:r=48000"] + sound + ["sine=880:r=44100"]
        let others = ["-i", subtitles.path, "-i", subtitles.path, "-i", texts.path, "-map_metadata", "5", "-map_chapters", "5"]
        let codecs = ["-c:v", "copy", "-c:a", "aac", "-ac:a:1", "2", "-c:s", "srt"]
        let maps = ["0:v", "1:a", "2:a", "3:s", "4:s"].flatMap { ["-map", $0] } + codecs
        let names = language("a:0", "eng") + language("a:1", "ger") + language("s:0", "eng") + language("s:1", "fre")
        let rest = ["-metadata:s:a:1", "title=Deutsch", "-disposition:a:0", "default", "-disposition:a:1", "0", "-disposition:s:1", "forced"]
        let words: [[String]] = [["-v", "error"], inputs, others, maps, names, rest, ["-y", path]]
        let outcome = try Tool.run("ffmpeg", Array(words.joined()))
        guard outcome.code == 0 else { throw Film.Refusal(result: SCANOUT_ERROR_OPEN, message: outcome.errors) }
        return path
    }

    /// What is asked for in `scanout_options`.
    private struct Wishes {
        var video: Int32 = 0, audio: Int32 = 0, subtitles: Int32 = 0
        var languages = ""
        var sandbox = SCANOUT_SANDBOX_OFF
    }

    /// Opens a film with choices of one's own. Sound is chosen only where there is a clock.
    private static func film(_ path: String, _ wishes: Wishes = Wishes()) throws -> Film {
        try unsafe Film(output: SCANOUT_OUTPUT_NONE, policy: SCANOUT_POLICY_DROP_OLDEST, startsPaused: true, sandbox: wishes.sandbox) {
            given, opened, message, size in
            unsafe wishes.languages.withCString { languages in
                var options = unsafe given.pointee
                unsafe options.is_silent = 0
                unsafe options.video_track = wishes.video
                unsafe options.audio_track = wishes.audio
                unsafe options.subtitle_track = wishes.subtitles
                unsafe options.audio_languages = languages
                return unsafe scanout_open(path, &options, opened, message, size)
            }
        }
    }

    @Test(arguments: [SCANOUT_SANDBOX_OFF.rawValue, SCANOUT_SANDBOX_FULL.rawValue])
    func `tracks, chapters and texts are those of the film`(_ sandbox: UInt32) throws {
        let film = try Self.film(Self.rich.get(), Wishes(sandbox: scanout_sandbox(rawValue: sandbox)))
        let expected = [
            "video 0 number 1 h264 320x180 30:1 default selected",
            "audio 1 number 1 aac eng 48000 Hz, 1 channels, mono default selected",
            "audio 2 number 2 aac ger “Deutsch” 44100 Hz, 2 channels, stereo",
            "subtitle 3 number 1 subrip eng",
            "subtitle 4 number 2 subrip fre forced",
        ]
        #expect(film.tracks.map { $0.summary } == expected)
        #expect(film.chapters == ["First from 0 to 400000000", "Zweites from 400000000 to 1000000000"])
        let texts = film.texts
        #expect(texts["title"] == "Übung" && texts["ARTIST"] == "Nobody", "\(texts)")
        #expect(film.summary == "Übung in matroska,webm: 5 tracks, 2 chapters, \(texts.count) texts, seekable, \(film.length) ns")
        #expect(film.length >= 1_000_000_000)
    }

    @Test func `the options choose the tracks`() throws {
        let path = try Self.rich.get()
        func selected(_ wishes: Wishes) throws -> [UInt32] { try Self.film(path, wishes).tracks.filter(\.isSelected).map(\.id) }
        #expect(try selected(Wishes(audio: 2)) == [0, 2])
        #expect(try selected(Wishes(audio: -1)) == [0])
        #expect(try selected(Wishes(video: -1)) == [1])
        #expect(try selected(Wishes(audio: 7)) == [0, 1])
        #expect(try selected(Wishes(languages: "fr, de")) == [0, 2])
        for wishes in [Wishes(audio: -2), Wishes(subtitles: .min)] {
            let refusal = #expect(throws: Film.Refusal.self) { try Self.film(path, wishes) }
            #expect(refusal?.result == SCANOUT_ERROR_ARGUMENT)
        }
        let sentence = "Subtitles are shown in a window or on a monitor only, and given to programs that ask for them."
        let film = try Self.film(path, Wishes(subtitles: 1))
        #expect(film.events(until: SCANOUT_EVENT_NOTICE).last?.sentence == sentence)
        #expect(unsafe scanout_set_subtitle_track(film.player, 1) == SCANOUT_END && scanout_set_subtitle_track(film.player, 0) == SCANOUT_OK)
        #expect(unsafe scanout_set_subtitle_track(film.player, -1) == SCANOUT_ERROR_ARGUMENT)
    }

    @Test func `strings stay where they are until the film is closed`() throws {
        let film = try Self.film(Self.rich.get())
        #expect(film.tracks == film.tracks && film.tracks.allSatisfy { $0.codecAddress != 0 })
    }

    @Test(arguments: [
        ("rotation-90.mp4", "video 0 number 1 h264 und 180x320 30:1 90° default selected"),
        ("pixel-aspect-2.mp4", "video 0 number 1 h264 und 160x180 2/1 30:1 default selected"),
        ("crop.mp4", "video 0 number 1 h264 und 318x178 30:1 default selected"),
        ("rate-23.976.mp4", "video 0 number 1 h264 und 320x180 24000:1001 default selected"),
    ])
    func `sizes, shapes and rates are the frames'`(_ name: String, _ expected: String) throws {
        #expect(try Self.film(TestAssets.path(name)).tracks.first?.summary == expected)
    }

    @Test func `a cover can be chosen, and is no film`() throws {
        let tracks = try Self.film(TestAssets.path("cover.m4a")).tracks
        #expect(tracks.contains { $0.summary.hasPrefix("cover 1 number 1 ") }, "\(tracks.map(\.summary))")
    }

    @Test func `before a film is open there is nothing to tell, and nonsense is refused`() throws {
        let source = SilentSource(.fifo)
        let opening = try unsafe Film(opensAsync: true) { unsafe scanout_open(source.location, $0, $1, $2, $3) }
        let open = try Self.film(TestAssets.path("plain.mp4"))
        var info = unsafe scanout_film_info(), track = unsafe scanout_track_info()
        unsafe info.size = UInt32(MemoryLayout<scanout_film_info>.size)
        unsafe track.size = UInt32(MemoryLayout<scanout_track_info>.size)
        #expect(unsafe scanout_get_film(opening.player, &info) == SCANOUT_NOTHING)
        #expect(unsafe scanout_get_track(opening.player, 0, &track) == SCANOUT_NOTHING)
        #expect(unsafe scanout_set_subtitle_track(opening.player, 1) == SCANOUT_NOTHING)
        #expect(unsafe scanout_get_film(nil, &info) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_get_track(open.player, 0, nil) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_get_track(open.player, .max, &track) == SCANOUT_END)
        unsafe info.size = 0
        #expect(unsafe scanout_get_film(open.player, &info) == SCANOUT_ERROR_ARGUMENT)
    }
}

/// A track as the C interface describes it, with copies of its strings.
private struct Track: Equatable {
    var id: UInt32
    var isSelected: Bool
    var summary: String
    /// Where the string lies.
    var codecAddress: UInt

    init(_ info: scanout_track_info) {
        unsafe id = info.id
        unsafe isSelected = info.is_selected != 0
        unsafe codecAddress = UInt(bitPattern: info.codec)
        let kinds = ["other", "video", "audio", "subtitle", "cover"]
        var words: [String?] = [unsafe "\(kinds[Int(info.kind)]) \(info.id) number \(info.number)"]
        unsafe words += [text(info.codec), text(info.language), text(info.title).map { "“\($0)”" }]
        if unsafe info.width > 0 { words.append(unsafe "\(info.width)x\(info.height)") }
        let (aspect, rate) = unsafe (info.pixel_aspect, info.frame_rate)
        if aspect.1 > 0, aspect.0 != aspect.1 { words.append("\(aspect.0)/\(aspect.1)") }
        if rate.1 > 0 { words.append("\(rate.0):\(rate.1)") }
        if unsafe info.rotation > 0 { words.append(unsafe "\(info.rotation)°") }
        if unsafe info.sample_rate > 0 {
            words.append(unsafe "\(info.sample_rate) Hz, \(info.channel_count) channels, \(text(info.channel_layout) ?? "")")
        }
        if unsafe info.is_default != 0 { words.append("default") }
        if unsafe info.is_forced != 0 { words.append("forced") }
        if isSelected { words.append("selected") }
        summary = words.compactMap { $0 }.joined(separator: " ")
    }
}

private func text(_ string: UnsafePointer<CChar>?) -> String? { unsafe string.map { unsafe String(cString: $0) } }

extension Film {
    fileprivate var length: Int64 { unsafe scanout_duration(player) }

    /// What the container says of the film.
    fileprivate var summary: String {
        var info = unsafe scanout_film_info()
        unsafe info.size = UInt32(MemoryLayout<scanout_film_info>.size)
        guard unsafe scanout_get_film(player, &info) == SCANOUT_OK else { return "" }
        let counts = unsafe "\(info.track_count) tracks, \(info.chapter_count) chapters, \(info.metadata_count) texts"
        let name = unsafe "\(text(info.title) ?? "no title") in \(text(info.container) ?? "")"
        return unsafe "\(name): \(counts)\(info.is_seekable != 0 ? ", seekable" : ""), \(info.duration) ns"
    }

    fileprivate var tracks: [Track] {
        var tracks: [Track] = [], track = unsafe scanout_track_info()
        unsafe track.size = UInt32(MemoryLayout<scanout_track_info>.size)
        while unsafe scanout_get_track(player, UInt32(tracks.count), &track) == SCANOUT_OK { unsafe tracks.append(Track(track)) }
        return tracks
    }

    fileprivate var chapters: [String] {
        var lines: [String] = [], chapter = unsafe scanout_chapter()
        unsafe chapter.size = UInt32(MemoryLayout<scanout_chapter>.size)
        while unsafe scanout_get_chapter(player, UInt32(lines.count), &chapter) == SCANOUT_OK {
            lines.append(unsafe "\(String(cString: chapter.title)) from \(chapter.start) to \(chapter.end)")
        }
        return lines
    }

    fileprivate var texts: [String: String] {
        var texts: [String: String] = [:], metadata = unsafe scanout_metadata()
        unsafe metadata.size = UInt32(MemoryLayout<scanout_metadata>.size)
        while unsafe scanout_get_metadata(player, UInt32(texts.count), &metadata) == SCANOUT_OK {
            texts[unsafe String(cString: metadata.name)] = unsafe String(cString: metadata.text)
        }
        return texts
    }
}
