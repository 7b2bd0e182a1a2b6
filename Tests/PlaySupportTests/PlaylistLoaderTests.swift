import Demuxing
import Foundation
import PlaySupport
import Player
import Testing

/// What lists and folders on the disk stand for.
@Suite final class PlaylistLoaderTests {
    private let folder = NSTemporaryDirectory() + "lists-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }

    /// The names found, without the folder's, and the sentences.
    private func load(_ names: String...) -> (films: [String], sentences: [String]) {
        var loader = PlaylistLoader(network: NetworkOptions(), cancellation: AssetCancellation())
        for name in names { loader.add(name.hasPrefix("/") ? name : folder + "/" + name) }
        let films = loader.entries.map { $0.location.replacing(folder + "/", with: "") }
        return (films, loader.failures.map { $0.description.replacing(folder + "/", with: "") })
    }

    @Test func `films, lists and folders follow each other`() throws {
        try FileManager.default.createDirectory(atPath: folder + "/films/deeper.mkv", withIntermediateDirectories: true)
        for name in ["10.mkv", "9.MP4", "notes.txt", ".hidden.mkv", "sign.png"] { try write("", to: "films/" + name) }
        try write("#EXTM3U\n#EXTINF:1,First\nb.mkv\n/c.mkv\nhttp://host/d\nfilms\nother.pls", to: "a.m3u")
        try write("[playlist]\nFile1=e.mkv", to: "other.pls")
        let (films, sentences) = load("first.mkv", "a.m3u", "films")
        let inside = ["films/9.MP4", "films/10.mkv", "films/sign.png"]
        let expected: [[String]] = [["first.mkv", "b.mkv", "/c.mkv", "http://host/d"], inside, ["e.mkv"], inside]
        #expect(films == Array(expected.joined()))
        #expect(sentences.isEmpty)
    }

    @Test func `a name in Latin-1 finds the file`() throws {
        try write("", to: "é.mkv")
        try Data([0xe9] + Array(".mkv\n".utf8)).write(to: URL(fileURLWithPath: folder + "/old.m3u"))
        #expect(load("old.m3u").films == ["é.mkv"])
    }

    @Test func `a film in pieces is played, not listed`() throws {
        try write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts", to: "film.m3u8")
        #expect(load("film.m3u8").films == ["film.m3u8"])
    }

    @Test(
        arguments: [
            ("a\nself.m3u\nb", ["a", "b"], "self.m3u: the list names itself."),
            ("./../\u{0}", [], "self.m3u: not a list: it holds bytes that no text has."),
            ("# nothing", [], "self.m3u: the list names no film."),
            (String(repeating: "x", count: 1 << 20), [], "self.m3u: not a list: a line is longer than any name."),
            ("empty\na", ["a"], "empty: the folder holds no film."), ("lost.m3u\na", ["a"], "lost.m3u: no such file."),
        ] as [(String, [String], String)])
    func `what is wrong with a list is one sentence`(_ text: String, _ films: [String], _ sentence: String) throws {
        try FileManager.default.createDirectory(atPath: folder + "/empty", withIntermediateDirectories: true)
        try write(text, to: "self.m3u")
        let (found, sentences) = load("self.m3u")
        #expect(found == films && sentences == [sentence])
    }

    @Test func `lists that name each other without end are bounded`() throws {
        for number in 0..<20 { try write("\(number + 1).m3u\nfilm\(number)", to: "\(number).m3u") }
        let (films, sentences) = load("0.m3u")
        #expect(films == (0..<8).reversed().map { "film\($0)" } && sentences == ["8.m3u: lists name each other more than 8 deep."])
        // A hundred names of a list with a hundred names of a list …
        for number in 0..<4 { try write(String(repeating: "w\(number + 1).m3u\n", count: 100), to: "w\(number).m3u") }
        try write("film", to: "w4.m3u")
        let wide = load("w0.m3u")
        #expect(wide.sentences == ["Lists name more than 1000 other lists."] && wide.films.count < 1000)
    }

    @Test func `a list of a hundred megabytes is refused, and not read`() throws {
        let path = folder + "/huge.m3u"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(unsafe truncate(path, 100 << 20) == 0)
        #expect(load("huge.m3u").sentences == ["huge.m3u: a list has at most 16 MiB."])
    }
}
