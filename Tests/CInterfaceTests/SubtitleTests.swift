import CScanout
import Foundation
import Media
import TestSupport
import Testing

/// Subtitles for programs that show the frames themselves, through the C interface.
@Suite struct SubtitleTests {
    private static let srt = "1\n00:00:00,200 --> 00:00:00,600\n<i>One</i>\nand a half\n\n2\n00:00:00,600 --> 00:00:01,000\nTwo\n"

    private static let films = Result { () throws -> (text: String, silent: String) in
        let folder = ProcessFolder.url.appendingPathComponent("subtitles")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.path + "/text.srt", film = folder.path + "/film.mkv", plain = folder.path + "/plain.mkv"
        try Data(srt.utf8).write(to: URL(fileURLWithPath: file))
        let source = ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=1.4"], codec = ["-c:v", "mpeg2video", "-g", "100"]
        let tracks = ["-i", file, "-map", "0", "-map", "1", "-map", "1", "-c:s:0", "srt", "-c:s:1", "ass"]
        try FFmpeg.run(source + tracks + codec + [film])
        try FFmpeg.run(source + codec + [plain])
        return (film, plain)
    }

    /// A film whose subtitles are taken.
    private static func film(
        _ path: String, track: Int32 = 1, takes: Bool = true, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, startsPaused: Bool = false,
        sandbox: scanout_sandbox = SCANOUT_SANDBOX_OFF
    ) throws -> Film {
        try unsafe Film(output: output, startsPaused: startsPaused, sandbox: sandbox) { given, opened, message, size in
            var options = unsafe given.pointee
            unsafe options.subtitle_track = track
            unsafe options.takes_subtitles = takes ? 1 : 0
            return unsafe scanout_open(path, &options, opened, message, size)
        }
    }

    private static let canvas = {
        var canvas = scanout_canvas()
        (canvas.size, canvas.width, canvas.height) = (UInt32(MemoryLayout<scanout_canvas>.size), 320, 180)
        return canvas
    }()

    @Test(arguments: [SCANOUT_SANDBOX_OFF.rawValue, SCANOUT_SANDBOX_FULL.rawValue])
    func `each frame has its text and picture`(_ sandbox: UInt32) throws {
        let film = try Self.film(Self.films.get().text, sandbox: scanout_sandbox(rawValue: sandbox))
        var texts: [String] = [], serials: [UInt64] = []
        while let frame = film.next() {
            let on = try #require(Subtitles(film, at: frame.info.film_time, Self.canvas))
            #expect(on.isDrawn == !on.text.isEmpty && on.pitch == on.place.width * 4)
            if on.isDrawn { #expect(on.hasLight && on.place.y > 90) }
            if on.text != texts.last { (texts, serials) = (texts + [on.text], serials + [on.serial]) }
            #expect(on.serial == serials.last, "it changes with the text")
        }
        #expect(texts == ["", "One\nand a half", "Two", ""])
        #expect(Set(serials).count == 4)
    }

    @Test func `lines have their times, text, tags and styles`() throws {
        let film = try Self.film(Self.films.get().text, track: 2)
        while film.next() != nil {}
        let on = try #require(Subtitles(film, at: 300_000_000))
        #expect(!on.isDrawn && on.text == "One\nand a half" && on.span == (200_000_000, 600_000_000) && on.lineCount == 1)
        #expect(on.line(0) == "200000000 to 600000000: One\nand a half | {\\i1}One{\\i0}\\Nand a half | Default, 0 0x0")
        #expect(on.lineResult(1, size: 72) == SCANOUT_END && on.lineResult(.max, size: 72) == SCANOUT_END)
        #expect(on.lineResult(0, size: nil) == SCANOUT_ERROR_ARGUMENT && on.lineResult(0, size: 0) == SCANOUT_ERROR_ARGUMENT)
        let end = try #require(Subtitles(film, at: 1_300_000_000, Self.canvas))
        #expect(end.lineCount == 0 && end.span == (1_000_000_000, .min) && end.text.isEmpty && !end.isDrawn)
        // It outlives the player.
        film.close()
        #expect(on.text == "One\nand a half" && on.line(0) != nil)
    }

    @Test func `with a clock an event tells what is on now`() throws {
        let film = try Self.film(Self.films.get().text, output: SCANOUT_OUTPUT_NONE, startsPaused: true)
        _ = film.next()
        for (time, text) in [(0, nil), (300_000_000, "One\nand a half"), (700_000_000, "Two"), (100_000_000, "")] as [(Int64, String?)] {
            #expect(unsafe scanout_seek(film.player, time) > 0)
            guard let text else { continue }
            // A line that has not been read yet comes a little later.
            var told: String?
            while told != text, let event = film.events(until: SCANOUT_EVENT_SUBTITLES).last { told = event.sentence }
            #expect(told == text)
        }
        #expect(unsafe scanout_set_subtitle_track(film.player, 2) == SCANOUT_OK && scanout_set_subtitle_track(film.player, 3) == SCANOUT_END)
    }

    @Test func `who does not ask gets none, and nonsense is refused`() throws {
        let films = try Self.films.get()
        for (path, takes) in [(films.text, false), (films.silent, true)] {
            let film = try Self.film(path, track: 0, takes: takes)
            #expect(Subtitles.result(film, 0) == SCANOUT_END, "\(path)")
        }
        let source = SilentSource(.fifo)
        let opening = try unsafe Film(opensAsync: true) { given, opened, message, size in
            var options = unsafe given.pointee
            unsafe options.takes_subtitles = 1
            return unsafe scanout_open(source.location, &options, opened, message, size)
        }
        #expect(Subtitles.result(opening, 0) == SCANOUT_NOTHING)
        let film = try Self.film(films.text)
        #expect(Subtitles.result(nil, 0) == SCANOUT_ERROR_ARGUMENT && Subtitles.result(film, .min) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_subtitles_at(film.player, 0, nil, -1, nil) == SCANOUT_ERROR_ARGUMENT)
        let changes: [(inout scanout_canvas) -> Void] = [
            { $0.size = 0 }, { $0.width = 0 }, { $0.height = 16_385 }, { $0.reserved = 1 }, { $0.film_width = 5 }, { $0.film_height = 5 },
            { ($0.film_width, $0.film_height) = (.max, 1) }, { ($0.film_width, $0.film_height, $0.film_x) = (1, 1, .min) },
        ]
        for (index, change) in changes.enumerated() {
            var canvas = Self.canvas
            change(&canvas)
            #expect(Subtitles.result(film, 0, canvas) == SCANOUT_ERROR_ARGUMENT, "\(index)")
        }
        var info = unsafe scanout_subtitles_info()
        #expect(unsafe scanout_subtitles_describe(nil, &info) == SCANOUT_ERROR_ARGUMENT)
        scanout_subtitles_release(nil)
    }

    @Test func `files that the program names come before the film's own, later by its delay`() throws {
        let films = try Self.films.get(), folder = ProcessFolder.url.path
        let names = ["first", "second"].map { folder + "/\($0).srt" }
        for (name, text) in zip(names, ["First", "Second"]) {
            try Data("1\n00:00:00,200 --> 00:00:00,600\n\(text)\n".utf8).write(to: URL(fileURLWithPath: name))
        }
        let paths = names.map { CText($0) }
        func film(_ path: String, track: Int32, isMissing: Bool = false) throws -> Film {
            try unsafe Film { given, opened, message, size in
                var options = unsafe given.pointee
                unsafe options.subtitle_track = track
                unsafe options.takes_subtitles = 1
                unsafe options.subtitle_delay = 500_000_000
                unsafe options.subtitle_file_count = 2
                let places = unsafe isMissing ? [paths[0].pointer, nil] : [paths[0].pointer, paths[1].pointer]
                return unsafe places.withUnsafeBufferPointer { places in
                    unsafe options.subtitle_files = places.baseAddress
                    return unsafe scanout_open(path, &options, opened, message, size)
                }
            }
        }
        for (path, track, words) in [(films.text, 0, "First"), (films.silent, 2, "Second")] as [(String, Int32, String)] {
            let film = try film(path, track: track)
            while film.next() != nil {}
            let on = try [300_000_000, 800_000_000, 1_150_000_000].map { time in try #require(Subtitles(film, at: time)).text }
            #expect(on == ["", words, ""], "\(path)")
        }
        let refusal = #expect(throws: Film.Refusal.self) { _ = try film(films.silent, track: 0, isMissing: true) }
        #expect(refusal?.result == SCANOUT_ERROR_ARGUMENT)
    }

    @Test func `a film that lies beside the canvas' edge keeps its text on the canvas`() throws {
        let film = try Self.film(Self.films.get().text)
        while film.next() != nil {}
        var canvas = Self.canvas
        (canvas.film_x, canvas.film_y, canvas.film_width, canvas.film_height) = (-40, -10, 400, 200)
        let on = try #require(Subtitles(film, at: 700_000_000, canvas)), place = on.place
        #expect(place.x >= 0 && place.y >= 0 && place.x + place.width <= 320 && place.y + place.height <= 180 && on.hasLight)
    }
}

/// What is on, in the program's hands; released with the object.
@safe
private final class Subtitles {
    private let handle: OpaquePointer
    private let info: scanout_subtitles_info

    /// The answer alone.
    static func result(_ film: Film?, _ time: Int64, _ canvas: scanout_canvas? = nil) -> scanout_result {
        var handle: OpaquePointer?
        let result = unsafe ask(film, time, canvas, &handle)
        unsafe scanout_subtitles_release(handle)
        return result
    }

    private static func ask(_ film: Film?, _ time: Int64, _ canvas: scanout_canvas?, _ handle: inout OpaquePointer?) -> scanout_result {
        guard var canvas else { return unsafe scanout_subtitles_at(film?.player, time, nil, 60_000_000_000, &handle) }
        return unsafe scanout_subtitles_at(film?.player, time, &canvas, 60_000_000_000, &handle)
    }

    init?(_ film: Film, at time: Int64, _ canvas: scanout_canvas? = nil) {
        var handle: OpaquePointer?
        guard unsafe Self.ask(film, time, canvas, &handle) == SCANOUT_OK, let handle = unsafe handle else { return nil }
        unsafe self.handle = unsafe handle
        var info = unsafe scanout_subtitles_info()
        unsafe info.size = UInt32(MemoryLayout<scanout_subtitles_info>.size)
        _ = unsafe scanout_subtitles_describe(handle, &info)
        unsafe self.info = unsafe info
    }

    deinit { unsafe scanout_subtitles_release(handle) }

    var text: String { unsafe String(cString: info.text) }
    var serial: UInt64 { unsafe info.serial }
    var lineCount: UInt32 { unsafe info.line_count }
    var span: (from: Int64, until: Int64) { unsafe (info.from, info.until) }
    var place: PixelRect { unsafe PixelRect(x: Int(info.x), y: Int(info.y), width: Int(info.width), height: Int(info.height)) }
    var pitch: Int { unsafe Int(info.pitch) }
    var isDrawn: Bool { unsafe info.pixels != nil }

    /// Whether some of it is white and opaque.
    var hasLight: Bool {
        let pixels = unsafe UnsafeBufferPointer(start: info.pixels?.assumingMemoryBound(to: UInt32.self), count: pitch / 4 * place.height)
        return unsafe pixels.contains { $0 & 0xff > 200 && $0 >> 24 > 200 }
    }

    /// A line as words; nil behind the last one.
    func line(_ index: UInt32) -> String? {
        var line = unsafe scanout_subtitle_line()
        unsafe line.size = UInt32(MemoryLayout<scanout_subtitle_line>.size)
        guard unsafe scanout_subtitles_get_line(handle, index, &line) == SCANOUT_OK else { return nil }
        func text(_ string: UnsafePointer<CChar>?) -> String { unsafe string.map { unsafe String(cString: $0) } ?? "none" }
        let times = unsafe "\(line.start) to \(line.end)", words = unsafe "\(text(line.text)) | \(text(line.ass)) | \(text(line.style))"
        return unsafe "\(times): \(words), \(line.is_image) \(line.width)x\(line.height)"
    }

    func lineResult(_ index: UInt32, size: Int?) -> scanout_result {
        guard let size else { return unsafe scanout_subtitles_get_line(handle, index, nil) }
        var line = unsafe scanout_subtitle_line()
        unsafe line.size = UInt32(size)
        return unsafe scanout_subtitles_get_line(handle, index, &line)
    }
}
