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

    private enum Edit: Sendable { case insert(String), append(String), remove(Int), move(Int, Int), clear, next }

    private struct EditRow: Sendable {
        let films: String, place: Int, edits: [Edit]
        /// What the list holds then, and what plays from the current film on.
        let entries: String, played: String
    }

    private static let edits: [EditRow] = [
        EditRow(films: "abc", place: 0, edits: [.insert("xy")], entries: "axybc", played: "axybc"),
        EditRow(films: "abc", place: 2, edits: [.insert("x")], entries: "abcx", played: "cx"),
        EditRow(films: "abc", place: 3, edits: [.insert("x")], entries: "abcx", played: "x"),
        EditRow(films: "", place: 0, edits: [.append("xy")], entries: "xy", played: "xy"),
        EditRow(films: "abc", place: 1, edits: [.remove(0)], entries: "bc", played: "bc"),
        EditRow(films: "abc", place: 1, edits: [.remove(1)], entries: "ac", played: "c"),
        EditRow(films: "abc", place: 2, edits: [.remove(2)], entries: "ab", played: ""),
        EditRow(films: "abc", place: 0, edits: [.remove(3), .move(3, 0), .move(0, 4)], entries: "abc", played: "abc"),
        EditRow(films: "abcd", place: 1, edits: [.move(3, 0)], entries: "dabc", played: "bc"),
        EditRow(films: "abcd", place: 1, edits: [.move(1, 4)], entries: "acdb", played: "b"),
        EditRow(films: "abcd", place: 1, edits: [.move(0, 2)], entries: "bacd", played: "bacd"),
        EditRow(films: "abcd", place: 1, edits: [.move(2, 2), .move(2, 3)], entries: "abcd", played: "bcd"),
        EditRow(films: "abc", place: 1, edits: [.clear, .append("x")], entries: "bx", played: "bx"),
        EditRow(films: "abc", place: 1, edits: [.insert("x"), .next, .remove(1)], entries: "axc", played: "xc"),
    ]

    @Test(arguments: edits) private func `a list is changed while it plays`(_ row: EditRow) {
        func entries(_ names: String) -> [Playlist.Entry] { names.map { Playlist.Entry(String($0)) } }
        var list = Playlist(entries(row.films))
        for _ in 0..<row.place { list.next() }
        for edit in row.edits {
            switch edit {
            case .insert(let films): list.insert(entries(films))
            case .append(let films): list.append(entries(films))
            case .remove(let index): list.remove(at: index)
            case .move(let index, let other): list.move(from: index, before: other)
            case .clear: list.clear()
            case .next: list.next()
            }
        }
        #expect(list.entries.map(\.location).joined() == row.entries)
        var played = ""
        while let film = list.current {
            played += film.location
            list.next()
        }
        #expect(played == row.played)
    }

    @Test func `the order changes behind the film that plays, and comes back`() {
        var list = Self.list(20)
        for _ in 0..<5 { list.next() }
        list.shuffle(by: 7)
        #expect(list.index == 5)
        var played: [Int] = []
        while let index = list.index {
            played.append(index)
            list.next()
        }
        #expect(played.sorted() == Array(0..<20) && played != played.sorted())
        list = Self.list(20, seed: 3)
        list.next()
        let index = list.index
        list.unshuffle()
        #expect(list.index == index)
        list.next()
        #expect(list.index == index.flatMap { $0 < 19 ? $0 + 1 : nil })
    }

    @Test func `a list is played so many times`() {
        var list = Self.list(2), played = ""
        list.turnsLeft = 2
        while let film = list.current {
            played += film.location
            list.next()
        }
        #expect(played == "010101" && !list.loops)
    }
}
