import Subtitles
import Testing

/// Files beside the film, and their character sets.
@Suite struct SubtitleNameTests {
    @Test(
        arguments: [
            ("film.srt", true, nil), ("film.de.srt", true, "de"), ("film.pt-BR.ass", true, "pt-BR"), ("film.eng.VTT", true, "eng"),
            ("film.mkv", false, nil), ("film.txt", false, nil), ("film2.srt", false, nil), ("film.directors cut.srt", false, nil),
            ("film.de.en.srt", false, nil), ("other.srt", false, nil), ("srt", false, nil), (".srt", false, nil), ("film..srt", false, nil),
            ("FILM.srt", false, nil), ("film.2160.srt", false, nil),
        ] as [(String, Bool, String?)])
    func `a file with the film's name belongs to it`(_ name: String, _ belongs: Bool, _ language: String?) {
        for folder in ["", "/films/"] {
            let found = SubtitleSearch.matches(of: folder + "film.mkv", among: [name])
            #expect(found.map(\.path) == (belongs ? [folder + name] : []) && found.first?.language == language)
        }
    }

    @Test func `they come in the order of their names`() {
        let names = ["a.b.fr.srt", "a.b.srt", "a.b.de.srt", "a.srt"]
        #expect(SubtitleSearch.matches(of: "x/a.b.mp4", among: names).map(\.path) == ["x/a.b.de.srt", "x/a.b.fr.srt", "x/a.b.srt"])
        #expect(SubtitleSearch.matches(of: "-").isEmpty && SubtitleSearch.matches(of: "https://example.org/a.mp4").isEmpty)
    }

    @Test(
        arguments: [
            ([0x41, 0xc3, 0xa4], "Aä"), ([0xef, 0xbb, 0xbf, 0x41], "A"), ([0xff, 0xfe, 0x41, 0, 0xe4, 0], "Aä"),
            ([0xfe, 0xff, 0, 0x41, 0, 0xe4], "Aä"),
            ([0xff, 0xfe, 0x41], ""), ([0x41, 0xe4], "Aä"), ([0x80, 0x93, 0x94, 0x9f], "€“”Ÿ"), ([0x81, 0xff], "\u{81}ÿ"), ([], ""),
        ] as [([UInt8], String)])
    func `text is UTF-8, or what its first bytes say, or Windows-1252`(_ bytes: [UInt8], _ text: String) {
        #expect(String(decoding: TextEncoding.utf8(bytes), as: UTF8.self) == text)
    }
}
