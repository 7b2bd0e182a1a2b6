import PlaySupport
import Testing

/// Which film follows which.
@Suite struct PlaylistTests {
    /// What a folder holds, which of it plays, what it holds then, and what plays from there on.
    @Test(
        arguments: [
            ("abc", 0, "abc", "abcabc"), ("abc", 0, "abcd", "abcdab"), ("abc", 1, "aabc", "bcaabc"), ("abc", 2, "bc", "cbcbcb"),
            ("abc", 1, "ac", "bcacac"), ("abc", 2, "ab", "cababa"), ("abc", 0, "d", "addddd"), ("abc", 1, "", "bcabca"), ("ab", 1, "bab", "babbab"),
        ] as [(String, Int, String, String)])
    func `a list takes over what a folder holds now`(_ before: String, _ place: Int, _ now: String, _ expected: String) {
        var list = Playlist(before.map { Playlist.Entry(String($0)) }, loops: true)
        for _ in 0..<place { list.next() }
        list.update(now.map { Playlist.Entry(String($0)) })
        var played = ""
        while played.count < expected.count {
            played += list.current?.location ?? "?"
            list.next()
            list.update(now.map { Playlist.Entry(String($0)) })
        }
        #expect(played == expected)
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `new films of a shuffled folder play in the same turn, each once`(_ seed: UInt64) {
        func entries(_ names: String) -> [Playlist.Entry] { names.map { Playlist.Entry(String($0)) } }
        var list = Playlist(entries("abcd"), shuffledBy: seed), played: [String] = []
        for step in 0..<6 {
            if step == 2 { list.update(entries("abcdef")) }
            played.append(list.current?.location ?? "?")
            list.next()
        }
        #expect(played.sorted() == ["a", "b", "c", "d", "e", "f"] && list.current == nil)
        list.append(Playlist.Entry("x"))
        list.update(entries("a"))
        #expect(list.entries.count == 7)
    }

    private static func list(_ count: Int, loops: Bool = false, seed: UInt64? = nil) -> Playlist {
        Playlist((0..<count).map { Playlist.Entry(String($0)) }, loops: loops, shuffledBy: seed)
    }

    /// The films that play, the first included; "-": none is left.
    private static func played(_ list: Playlist, _ steps: String) -> String {
        var list = list, text = list.current?.location ?? "-"
        for step in steps {
            switch step {
            case ">": list.next()
            case "<": list.previous()
            default: list.skip()
            }
            text += list.current?.location ?? "-"
        }
        return text
    }

    /// `>`: the film ends or the viewer goes on; `<`: back; `x`: the film fails.
    @Test(arguments: [
        (0, false, ">", "--"), (1, false, ">", "0-"), (3, false, ">>>>", "012--"), (3, false, "<>><<<", "0012100"), (3, true, ">>>>", "01201"),
        (3, true, "<<", "021"), (1, true, ">><", "0000"), (3, false, "xx>", "012-"), (3, false, "xxx", "012-"), (3, true, "xxx", "012-"),
        (3, true, "xx>xx>", "0120120"), (1, true, "x", "0-"), (0, true, "><x", "----"), (3, false, ">>><", "012-2"),
    ])
    func `films follow each other`(_ count: Int, _ loops: Bool, _ steps: String, _ played: String) {
        #expect(Self.played(Self.list(count, loops: loops), steps) == played)
    }

    @Test(arguments: [(0, false, false, false), (1, false, false, false), (2, false, true, false), (1, true, true, true), (0, true, false, false)])
    func `a list knows whether there is more`(_ count: Int, _ loops: Bool, _ hasNext: Bool, _ hasPrevious: Bool) {
        let list = Self.list(count, loops: loops)
        #expect(list.hasNext == hasNext && list.hasPrevious == hasPrevious)
    }

    @Test func `a seed gives one order of all films, and another each turn`() {
        let steps = String(repeating: ">", count: 39)
        let twice = Self.played(Self.list(20, loops: true, seed: 7), steps)
        #expect(twice == Self.played(Self.list(20, loops: true, seed: 7), steps))
        #expect(twice != Self.played(Self.list(20, loops: true, seed: 8), steps))
        var list = Self.list(20, loops: true, seed: 7), turns: [[String]] = [[], []]
        for turn in 0..<2 {
            for _ in 0..<20 {
                turns[turn].append(list.current?.location ?? "-")
                list.next()
            }
        }
        let all = (0..<20).map(String.init).sorted()
        #expect(turns[0].sorted() == all && turns[1].sorted() == all && turns[0] != turns[1] && turns[0] != (0..<20).map(String.init))
    }

    @Test(arguments: 0..<50) func `no film follows itself where a shuffled list begins again`(_ seed: UInt64) {
        let played = Array(Self.played(Self.list(3, loops: true, seed: seed), String(repeating: ">", count: 30)))
        #expect(zip(played, played.dropFirst()).allSatisfy { $0 != $1 })
    }
}
