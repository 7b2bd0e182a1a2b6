import Capture
import Media
import SurfacePool
import Testing

@Suite("Fields that come one by one") struct FieldPairStateTests {
    /// The driver's number, t or b for the upper or the lower field; what comes of each: nothing, a whole frame with the field that came first, or
    /// the number of one that is lost.
    @Test(
        "make a frame where two of one number follow each other, and else lose it",
        arguments: [
            (["0t", "0b", "1t", "1b"], ["", "0t", "", "1t"]),
            (["4b", "4t", "5b", "5t"], ["", "4b", "", "5b"]),
            // It begins in the middle of a frame.
            (["7b", "8t", "8b"], ["", "-7", "8t"]),
            // A second field is missing; a first one; both of a frame.
            (["0t", "1t", "1b"], ["", "-0", "1t"]), (["0t", "0b", "1b", "2t", "2b"], ["", "0t", "", "-1", "2t"]),
            (["0t", "0b", "3t", "3b"], ["", "0t", "", "3t"]),
            // The same field again is of another frame.
            (["2t", "2t", "2b"], ["", "-2", "2t"]),
        ] as [([String], [String])])
    func pairs(fields: [String], expected: [String]) throws {
        var state = FieldPairState(), counted: [UInt32] = [], seen: [String] = []
        for (index, field) in fields.enumerated() {
            let number = try #require(UInt32(field.dropLast()))
            let step = state.take(number, isTop: field.hasSuffix("t"), at: HostTime(nanoseconds: Int64(index))) { number in
                counted.append(number)
                return SequenceState.Receipt(number: UInt64(number))
            }
            switch step {
            case .begins(nil): seen.append("")
            case .begins(let lost?):
                seen.append("-\(lost.receipt.number)")
                #expect(lost.loss == .damaged)
            case .completes(let frame):
                seen.append("\(frame.receipt.number)\(frame.isTopFirst ? "t" : "b")")
                #expect(frame.time == HostTime(nanoseconds: Int64(index) - 1) && frame.loss == nil, "the time is that of the first field")
            }
        }
        #expect(seen == expected)
        #expect(counted.count == expected.count { $0.isEmpty || $0.hasPrefix("-") }, "each frame is counted once, with its first field")
        #expect(state.finish() == nil)
    }

    @Test("keep the reason why their frame is lost, also at the end")
    func loss() {
        var state = FieldPairState()
        let count = { (number: UInt32) in SequenceState.Receipt(number: UInt64(number)) }
        _ = state.take(3, isTop: true, at: HostTime(nanoseconds: 1), count: count)
        state.spoil(.outOfBuffers)
        state.spoil(.damaged)
        guard case .completes(let frame) = state.take(3, isTop: false, at: HostTime(nanoseconds: 2), count: count) else {
            return #expect(Bool(false), "it is whole")
        }
        #expect(frame.loss == .outOfBuffers)
        _ = state.take(4, isTop: true, at: HostTime(nanoseconds: 3), count: count)
        #expect(state.finish()?.loss == .damaged && state.finish() == nil)
    }

    @Test("are put into every second row of each plane, with both pitches", arguments: [true, false])
    func rows(isTop: Bool) throws {
        let field = try ActiveFormat.layout(.nv12, PixelSize(width: 4, height: 2), pitch: 5, byteCount: 0, "camera")
        let frame = try ActiveFormat.layout(.nv12, PixelSize(width: 4, height: 4), pitch: 6, byteCount: 0, "camera")
        // Two rows of luma and one of chroma, with a byte between the rows.
        let source: [UInt8] = [1, 2, 3, 4, 0, 5, 6, 7, 8, 0, 9, 10, 11, 12, 0]
        var target = [UInt8](repeating: 0xee, count: frame.byteCount)
        let copied = unsafe source.withUnsafeBytes { source in
            unsafe target.withUnsafeMutableBytes { target in unsafe FieldRows.copy(source, field, to: target, frame, isTop: isTop) }
        }
        func row(_ plane: Int, _ row: Int) -> [UInt8] {
            let start = frame.plane(plane).offset + row * frame.plane(plane).pitch
            return Array(target[start..<start + 4])
        }
        let untouched = [UInt8](repeating: 0xee, count: 4), first = isTop ? 0 : 1
        #expect(copied == 12)
        #expect(row(0, first) == [1, 2, 3, 4] && row(0, first + 2) == [5, 6, 7, 8] && row(1, first) == [9, 10, 11, 12])
        #expect(row(0, 1 - first) == untouched && row(0, 3 - first) == untouched && row(1, 1 - first) == untouched)
    }
}
