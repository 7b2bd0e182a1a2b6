import Capture
import Media
import Testing

@Suite("Compressed frames on their way through a decoder") struct CompressedQueueStateTests {
    private typealias State = CompressedQueueState<Int, String>

    private static func time(_ number: Int) -> HostTime { HostTime(nanoseconds: Int64(number) * 1_000_000) }

    private static func add(_ numbers: Range<Int>, to state: inout State, sync: (Int) -> Bool = { $0 % 30 == 0 }, hasRoom: Bool = true) {
        for number in numbers {
            state.add(number, isSync: sync(number), .init(number: UInt64(number)), at: time(number), hasRoom: hasRoom)
        }
    }

    /// What comes out: `3` for a frame, `late 3` for a lost one.
    private static func taken(_ state: inout State) -> [String] {
        var told: [String] = []
        while let (entry, fate) = state.take() {
            switch fate {
            case .frame(let text): told.append("\(entry.receipt.number)\(text)")
            case .lost(let reason): told.append("\(reason.rawValue) \(entry.receipt.number)")
            }
        }
        return told
    }

    @Test("come out in their order, once each is answered, and those without an answer are damaged")
    func order() {
        var state = State(isIntra: false)
        Self.add(0..<3, to: &state)
        state.lose(.damaged, .init(number: 3), at: Self.time(3))
        Self.add(4..<5, to: &state)
        for number in 0..<3 { #expect(state.give()?.sample == number) }
        #expect(Self.taken(&state) == [] && state.hasSample)
        #expect(state.entry(1)?.time == Self.time(1) && state.entry(7) == nil)
        // The first one never gets an answer.
        state.answer(1, .frame("!"))
        #expect(Self.taken(&state) == ["damaged 0", "1!"])
        state.answer(1, .lost(.damaged))
        state.answer(2, .lost(.damaged))
        #expect(Self.taken(&state) == ["damaged 2", "damaged 3"])
        #expect(state.give()?.sample == 4 && state.give() == nil && !state.hasSample)
        state.answer(3, .frame("!"))
        #expect(Self.taken(&state) == ["4!"])
    }

    @Test("are left out one by one, the oldest first, where each can be decoded by itself", arguments: [(true, "late"), (false, "out-of-buffers")])
    func intra(hasRoom: Bool, reason: String) {
        var state = State(isIntra: true)
        Self.add(0..<6, to: &state, sync: { _ in false }, hasRoom: hasRoom)
        #expect(Self.taken(&state) == ["\(reason) 0", "\(reason) 1"])
        #expect((0..<4).map { _ in state.give()?.sample } == [2, 3, 4, 5])
    }

    @Test("are left out up to where decoding can begin again, where they depend on others")
    func dependent() {
        // 61 wait; the newest beginning is 60.
        var state = State(isIntra: false)
        Self.add(0..<61, to: &state)
        #expect(Self.taken(&state) == (0..<60).map { "late \($0)" })
        #expect(state.give()?.sample == 60)
        // Without a beginning everything goes until there is one.
        Self.add(61..<125, to: &state, sync: { $0 == 123 }, hasRoom: false)
        state.answer(0, .frame("!"))
        #expect(Self.taken(&state) == ["60!"] + (61..<123).map { "out-of-buffers \($0)" })
        #expect(state.give()?.sample == 123 && state.give()?.sample == 124)
    }

    @Test("are too late when the camera has stopped")
    func end() {
        var state = State(isIntra: true)
        Self.add(0..<3, to: &state)
        _ = state.give()
        state.finish()
        #expect(Self.taken(&state) == ["late 0", "late 1", "late 2"] && !state.hasSample && state.give() == nil)
    }

    @Test(
        "say whether decoding can begin with them",
        arguments: [
            ("h264", [0, 0, 0, 1, 0x09, 0xf0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x65, 9], true), ("h264", [0, 0, 1, 0x67, 2, 0, 0, 0, 1, 0x41, 9], false),
            ("h264", [0, 0, 0, 1, 0x06, 5, 0, 0, 1, 0x21], false), ("h264", [], false), ("h264", [0, 0, 1], false),
            ("hevc", [0, 0, 1, 0x40, 1, 0, 0, 1, 0x26, 1], true), ("hevc", [0, 0, 1, 0x02, 1], false), ("mjpeg", [0xff, 0xd8], true),
        ] as [(String, [UInt8], Bool)])
    func sync(codec: String, bytes: [UInt8], expected: Bool) {
        let isSync = unsafe bytes.withUnsafeBytes { unsafe CompressedBytes.isSync($0, VideoCodec(name: codec)) }
        #expect(isSync == expected)
    }
}
