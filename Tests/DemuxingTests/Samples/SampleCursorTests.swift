import Media
import TestSupport
import Testing

@testable import Demuxing
@testable import SampleQueue

/// Steps and facts over tables whose samples are written down here.
@Suite struct SampleCursorTests {
    /// Samples of 1/25 s in decode order: the presentation number, and a letter: I sync, P, b droppable.
    private func table(_ samples: String, byteCount: Int32 = 10, gapBefore: Set<Int> = []) -> SampleTable {
        var offset: Int64 = 100
        var entries: [SampleTable.Entry] = []
        for (number, word) in samples.split(separator: " ").enumerated() {
            if gapBefore.contains(number) { offset += 7 }
            let flags: SampleTable.Flags = word.hasPrefix("I") ? .sync : word.hasPrefix("b") ? .droppable : []
            let shown = Int64(word.dropFirst()) ?? 0
            entries.append(
                SampleTable.Entry(
                    presentation: shown, decode: Int64(number) - 2, duration: 1, offset: offset, byteCount: byteCount, flags: flags))
            offset += Int64(byteCount)
        }
        return SampleTable(track: Self.track, entries: entries)
    }

    private static let track = AssetTrack(
        id: 0, kind: .video, format: .video(VideoFormat(codec: .h264, codedSize: PixelSize(width: 16, height: 16))), timeBase: Ratio(1, 25),
        duration: .indefinite, bitRate: 0, language: nil, title: nil, isDefault: true, isDecodable: true)

    /// A closed group, then an open one whose first frames shown need the group before.
    private var groups: SampleTable { table("I0 P3 b1 b2 I6 b4 b5 P9 b7 b8") }

    private func frame(_ number: Int64) -> MediaTime { MediaTime(value: number, timescale: 25) }

    @Test func `it is placed on the sample shown at a time`() throws {
        let table = groups
        for number in 0..<10 { #expect(table.cursor(at: frame(Int64(number)))?.presentationNumber == number) }
        #expect(table.cursor(at: MediaTime(value: 59, timescale: 1000))?.number == 2, "0.059 s is inside the second frame")
        #expect(table.cursor(at: frame(-5))?.number == 0)
        #expect(table.cursor(at: .positiveInfinity)?.presentationNumber == 9)
        #expect(table.cursor(at: .negativeInfinity)?.presentationNumber == 0)
        #expect(SampleTable(track: Self.track, entries: []).cursor(at: .zero) == nil)
    }

    @Test func `steps in both orders say how far they came`() throws {
        var cursor = try #require(groups.first)
        #expect(cursor.stepInDecodeOrder(by: 3) == 3 && cursor.number == 3)
        #expect(cursor.stepInPresentationOrder(by: 1) == 1 && cursor.number == 1)
        #expect(cursor.stepInPresentationOrder(by: -2) == -2 && cursor.number == 2)
        #expect(cursor.stepInDecodeOrder(by: 100) == 7 && cursor == cursor.table.last)
        #expect(cursor.stepInDecodeOrder(by: .min) == -9 && cursor.number == 0)
        #expect(cursor.stepInPresentationOrder(by: .max) == 9 && cursor.presentationTime == frame(9))
        #expect(cursor.step(byPresentationTime: frame(-4)) == frame(-4) && cursor.presentationNumber == 5)
        #expect(cursor.step(byDecodeTime: frame(-100)) == frame(-6) && cursor.number == 0)
    }

    @Test func `a copy lives alone`() throws {
        var cursor = try #require(groups.first)
        let copy = cursor
        cursor.stepInDecodeOrder()
        #expect(copy.number == 0 && cursor.number == 1 && copy < cursor)
    }

    @Test func `open groups have partial sync samples, whose leading samples need the group before`() {
        let table = groups
        #expect((0..<10).map { table[$0].sync } == [.full, .none, .none, .none, .partial, .none, .none, .none, .none, .none])
        #expect((0..<10).map { table[$0].samplesNeededBefore } == [0, 1, 2, 3, 0, 5, 6, 3, 4, 5])
        #expect(table[5].decodingStart.number == 0 && table[7].decodingStart.number == 4)
        #expect(table[2].isDroppable && table[2].hasDependents == false && table[1].hasDependents == nil)
        #expect(!table[0].dependsOnOthers && table[1].dependsOnOthers)
        // Nothing to begin with: all that there is.
        #expect(self.table("P0 P1 P2")[2].samplesNeededBefore == 2)
    }

    @Test func `it says whether reordering can cross another sample`() {
        let table = groups
        #expect(table[2].earlierSamplesMayBeShown(after: table[3]), "frame 3 is decoded before frame 1 and shown after frame 2")
        #expect(!table[4].earlierSamplesMayBeShown(after: table[1]))
        #expect(table[4].laterSamplesMayBeShown(before: table[4]))
        #expect(!table[6].laterSamplesMayBeShown(before: table[4]))
    }

    @Test func `samples without a gap between them are a chunk`() {
        let table = table("I0 P1 P2 P3", gapBefore: [2])
        #expect(table[0].chunk == SampleCursor.Chunk(offset: 100, byteCount: 20, samples: 0..<2))
        #expect(table[1].chunk == table[0].chunk)
        #expect(table[3].chunk == SampleCursor.Chunk(offset: 127, byteCount: 20, samples: 2..<4))
    }

    @Test func `a film of ten hours takes less than 200 bytes a sample and finds each`() {
        let count = 10 * 3600 * 25
        var entries: [SampleTable.Entry] = []
        for number in 0..<Int64(count) {
            let flags: SampleTable.Flags = number % 250 == 0 ? .sync : []
            entries.append(
                SampleTable.Entry(presentation: number, decode: number, duration: 1, offset: number * 1000, byteCount: 900, flags: flags))
        }
        let table = SampleTable(track: Self.track, entries: entries)
        #expect(table.byteCount < 200 * count)
        for number in [0, 1, 249, 250, count / 2, count - 1] {
            #expect(table.cursor(at: frame(Int64(number)))?.number == number)
            #expect(table[number].samplesNeededBefore == number % 250)
        }
    }
}
