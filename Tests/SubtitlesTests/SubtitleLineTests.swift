import DisplaySink
import Media
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// What is on at a moment, how long it stays, and which answers are given again.
@Suite struct SubtitleLineTests {
    private static let spans: [Range<Int64>] = [100..<200, 150..<250, 50..<60, 300..<300, 400..<500, 400..<450]

    private static let table: [(time: Int64, lines: [Int], from: Int64, until: Int64)] = [
        (0, [], .min, 50), (50, [2], 50, 60), (59, [2], 50, 60), (60, [], 60, 100), (100, [0], 100, 150), (150, [0, 1], 150, 200),
        (199, [0, 1], 150, 200),
        (200, [1], 200, 250), (250, [], 250, 400), (300, [], 250, 400), (400, [4, 5], 400, 450), (460, [4], 450, 500), (500, [], 500, .max),
    ]

    @Test(arguments: table.indices) func `lines are on from their start to their end`(_ index: Int) {
        let row = Self.table[index]
        let shown = SubtitleLines.on(at: row.time, of: Self.spans) { index in
            SubtitleLine(start: Self.spans[index].lowerBound, end: Self.spans[index].upperBound, ass: "\(index)")
        }
        #expect(shown.lines.map(\.text) == row.lines.map { "\($0)" } && shown.from == row.from && shown.until == row.until, "\(row.time): \(shown)")
    }

    @Test func `lines come in the order of their starts`() {
        let spans: [Range<Int64>] = [20..<90, 10..<90, 20..<90, 0..<90]
        let shown = SubtitleLines.on(at: 50, of: spans) { SubtitleLine(start: spans[$0].lowerBound, end: nil, ass: "\($0)") }
        #expect(shown.lines.map(\.text) == ["3", "1", "0", "2"])
    }

    @Test func `of too many lines and too much text the first are told`() {
        let many = (0..<300).map { SubtitleLine(start: Int64($0), end: nil, ass: "a") }
        #expect(SubtitleLines(many).lines.count == 256)
        let long = (0..<100).map { _ in SubtitleLine(start: 0, end: nil, ass: String(repeating: "a", count: 16 << 10)) }
        #expect(SubtitleLines(long).lines.count == 64)
    }

    // MARK: Answers

    private static let canvas = OverlayCanvas(size: PixelSize(width: 4, height: 4), film: PixelRect(x: 0, y: 0, width: 4, height: 4))

    private static func answer(_ text: String, _ from: Int64, _ until: Int64, pixel: UInt32? = nil) -> DrawnSubtitles {
        let image = pixel.map { OverlayImage(place: PixelRect(x: 0, y: 0, width: 1, height: 1), pixels: [$0]) }
        return DrawnSubtitles(SubtitleLines([SubtitleLine(start: from, end: until, ass: text)], from: from, until: until), image: image)
    }

    @Test func `an answer is given again while it holds, for its canvas`() {
        var answers = SubtitleAnswers()
        #expect(answers.answer(at: 5, on: Self.canvas) == nil)
        _ = answers.add(Self.answer("a", 5, 10, pixel: 1), on: Self.canvas)
        let known = [4, 5, 9, 10].map { answers.answer(at: Int64($0), on: Self.canvas)?.shown.lines.first?.text }
        #expect(known == [nil, "a", "a", nil] && answers.answer(at: 5, on: nil) == nil)
        for (start, end, holds) in [(0, 5, true), (10, 20, true), (9, 10, false)] as [(Int64, Int64, Bool)] {
            var other = answers
            other.forget(from: start, to: end)
            #expect((other.answer(at: 5, on: Self.canvas) != nil) == holds, "\(start) to \(end)")
        }
        answers.forgetAll()
        #expect(answers.answer(at: 5, on: Self.canvas) == nil)
    }

    @Test func `the number changes with the image only`() {
        var answers = SubtitleAnswers()
        let wanted: [UInt32?] = [nil, 1, 1, 2, nil, nil, 2]
        var given: [DrawnSubtitles] = []
        for (index, pixel) in wanted.enumerated() {
            if index == 2 { answers.forgetAll() }
            given.append(answers.add(Self.answer("\(index)", Int64(index), Int64(index) + 1, pixel: pixel), on: Self.canvas))
        }
        #expect(given.map(\.serial) == [1, 2, 2, 3, 4, 4, 5])
        #expect(given[1].image === given[2].image && given[3].image !== given[2].image)
        let other = answers.add(Self.answer("x", 0, 1, pixel: 2), on: nil)
        #expect(other.serial == 6, "another canvas")
    }

    @Test func `the canvas that was drawn for first is forgotten when there are many`() {
        var answers = SubtitleAnswers()
        let canvases = (1...5).map { OverlayCanvas(size: PixelSize(width: $0, height: 1), film: PixelRect(x: 0, y: 0, width: $0, height: 1)) }
        for canvas in canvases { _ = answers.add(Self.answer("a", 0, 9), on: canvas) }
        #expect(canvases.map { answers.answer(at: 0, on: $0) != nil } == [false, true, true, true, true])
    }

    // MARK: On the way from the process that reads them

    private static let lines = [
        SubtitleLine(start: -5, end: 7, ass: "{\\i1}Ä\\Nb\t", style: "Default"), SubtitleLine(start: 0, end: nil, ass: ""),
        SubtitleLine(start: 1, end: nil, place: PixelRect(x: -1, y: 2, width: 3, height: 4), canvas: PixelSize(width: 720, height: 576)),
    ]

    private static func written(_ lines: [SubtitleLine]) -> [UInt8] {
        var writer = WireWriter()
        writer.put(lines)
        return writer.bytes
    }

    @Test func `lines read back as what was written`() throws {
        for lines in [[], Self.lines, Array(repeating: Self.lines[0], count: 256)] {
            var reader = WireReader(Self.written(lines)[...])
            #expect(try reader.takeLines() == lines)
        }
    }

    @Test func `what is no text, too much or cut is refused`() {
        let refused: [[UInt8]] =
            [Self.written([SubtitleLine(start: 0, end: nil, ass: "\u{1b}[31m")]), Self.written(Array(repeating: Self.lines[0], count: 257))]
            + [Self.written([SubtitleLine(start: 0, end: nil, place: PixelRect(x: 0, y: 0, width: -1, height: 1))]), Self.written(Self.lines) + [0]]
            + (0..<Self.written(Self.lines).count).map { Array(Self.written(Self.lines).prefix($0)) }
        for bytes in refused {
            var reader = WireReader(bytes[...])
            #expect(throws: WireError.self) { try reader.takeLines() }
        }
        var dice = Dice(seed: 11)
        for _ in 0..<TestExtent.rounds(2_000, full: 100_000, sanitized: 500) {
            var bytes = Self.written(Self.lines)
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice) }
            var reader = WireReader(bytes[...])
            let read = try? reader.takeLines()
            #expect(read?.allSatisfy { $0.ass.map(PlainText.isClean) ?? true } ?? true)
        }
    }
}
