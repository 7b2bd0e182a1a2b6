import Demuxing
import JSON
import Media
import Player
import Testing

@testable import PlaySupport

@Suite struct PageSearchTests {
    private static func film(_ text: String) -> PageFilm? { (try? JSONValue(parsing: text.utf8)).flatMap { PageSearch.film(in: $0, "page") } }

    @Test func `a film in one piece has an address and what its server is told`() {
        let film = Self.film(
            #"{"title": "A film", "url": "https://h/a.mp4", "http_headers": {"Referer": "https://p/", "Range": "bytes=0-", "Bad": "a\r\nX: y"}}"#)
        #expect(film == PageFilm(page: "page", title: "A film", frames: .init(address: "https://h/a.mp4", headerFields: ["Referer: https://p/"])))
    }

    @Test(arguments: [
        #"{"requested_formats": [{"url": "http://h/v", "vcodec": "vp9", "acodec": "none"}, {"url": "http://h/a", "vcodec": "none"}]}"#,
        #"{"requested_formats": [{"url": "http://h/a", "vcodec": "none"}, {"url": "http://h/v", "vcodec": "vp9"}]}"#,
        #"{"_type": "playlist", "entries": [null, {"requested_formats": [{"url": "http://h/v"}, {"url": "http://h/a", "vcodec": "none"}]}]}"#,
    ]) func `frames and sound may have addresses of their own`(text: String) {
        let film = Self.film(text)
        #expect(film?.frames.address == "http://h/v" && film?.sound?.address == "http://h/a" && film?.title == nil)
    }

    @Test(arguments: [
        "null", "[]", "{}", #"{"url": 1}"#, #"{"url": "file:///etc/passwd"}"#, #"{"url": "/etc/passwd"}"#, #"{"url": "concat:a|b"}"#,
        #"{"url": "http://h/\n"}"#, #"{"url": "http://h/a b"}"#, #"{"entries": []}"#, #"{"entries": [1]}"#,
        #"{"requested_formats": [{"url": "http://h/v"}, {"url": "pipe:0", "vcodec": "none"}]}"#,
        #"{"requested_formats": [{"url": "http://h/v", "vcodec": "none"}, {"url": "http://h/a", "vcodec": "none"}]}"#,
        #"{"requested_formats": [{"url": "http://h/v"}, {"url": "http://h/a"}, {"url": "http://h/b"}]}"#,
    ]) func `what is on no web server, or makes no sense, is no film`(text: String) { #expect(Self.film(text) == nil) }

    @Test(
        arguments: [
            ("ytdl://https://h/page", "https://h/page"), ("YTDL://abc", "abc"), ("https://h/page", nil), ("film.mkv", nil), ("/ytdl://x", nil),
        ] as [(String, String?)]) func `an address says whether yt-dlp is asked first`(location: String, wanted: String?)
    {
        #expect(PageSearch.wanted(location) == wanted)
    }

    @Test func `only what opens as no film on a web server may be a page`() {
        let error = PlayerError(AssetError(.unrecognised, ""))
        #expect(PageSearch.mayBePage("https://h/page", error) && PageSearch.mayBePage("HTTP://h/", error))
        #expect(!PageSearch.mayBePage("film.mkv", error) && !PageSearch.mayBePage("rtsp://h/", error) && !PageSearch.mayBePage("/http://h", error))
        #expect(!PageSearch.mayBePage("https://h/page", PlayerError(.network, "")))
        // A film that is not played, such as an encrypted one, is none either.
        #expect(!PageSearch.mayBePage("https://h/page", PlayerError(AssetError(.noPlayableTrack, ""))))
    }

    @Test(arguments: ["", "/etc/passwd", "../film", "file:///etc/passwd", "FILE:x"]) func `a file is never asked about`(page: String) {
        #expect(throws: PlayerError.self) { try PageSearch(format: "", cancellation: AssetCancellation()).film(on: page, called: "x") }
    }

    // MARK: The program's output

    private static func run(_ script: String, limit: Int = 1000, patience: Double = 60, _ cancellation: AssetCancellation = AssetCancellation())
        -> Result<ProgramOutput, ProgramOutput.Failure>
    {
        do throws(ProgramOutput.Failure) {
            return .success(try ProgramOutput(of: ["sh", "-c", script], limit: limit, patience: .seconds(patience), cancellation: cancellation))
        } catch { return .failure(error) }
    }

    private static func failure(_ result: Result<ProgramOutput, ProgramOutput.Failure>) -> ProgramOutput.Failure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    @Test func `a program's output, errors and exit code are read whole`() throws {
        let output = try Self.run("echo out; echo err >&2; cat; exit 3").get()
        #expect(output.bytes == Array("out\n".utf8) && output.errors == "err\n" && output.code == 3)
        #expect(try Self.run("kill -9 $$").get().code == -1)
        #expect(try Self.run("i=0; while [ $i -lt 2000 ]; do echo 0123456789 >&2; i=$((i+1)); done").get().errors.utf8.count == 4096)
    }

    @Test func `one that writes without end, hangs or is not wanted is ended with all that it has started`() {
        #expect(Self.failure(Self.run("yes")) == .tooMuch)
        #expect(Self.failure(Self.run("sleep 1000 & sleep 1000", patience: 0.2)) == .tooLong)
        let cancellation = AssetCancellation()
        cancellation.cancel()
        #expect(Self.failure(Self.run("sleep 1000", cancellation)) == .cancelled)
    }

    @Test func `a program that is not there is missing`() {
        #expect(throws: ProgramOutput.Failure.missing) {
            try ProgramOutput(of: ["no-such-program-anywhere"], limit: 1, patience: .seconds(1), cancellation: AssetCancellation())
        }
    }
}
