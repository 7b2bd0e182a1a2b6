import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

/// A decoder process that lies: each lie ends it, and none reaches a surface that is not its own.
@Suite struct DecoderListenerTests {
    private static let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 64))

    @Test func `random bytes on either socket end it`() throws {
        var dice = Dice(seed: 0xbad_dec0de)
        for round in 0..<200 {
            let stage = try LyingProcess()
            var writer = WireWriter()
            writer.put(UInt8.random(in: 3...255, using: &dice))
            for _ in 0..<Int.random(in: 0...100, using: &dice) { writer.put(UInt8.random(in: 0...255, using: &dice)) }
            if round % 2 == 0 { try stage.memory.send(writer) } else { try stage.work.send(writer) }
            // A message may by chance be one; then it is followed by the end.
            stage.work.shutDown()
            #expect(throws: ProcessEnd.self) {
                while true { _ = try stage.listener.next() }
            }
        }
    }

    @Test func `what becomes of a sample comes in one message, and nothing behind its end`() throws {
        let stage = try LyingProcess(), listener = stage.listener
        let answers: [DecoderAnswer] = [
            .dropped(sampleNumber: 1, .noFrame), .failed(sampleNumber: 2, DecodingError(.invalidData, "broken")),
            .done(number: 0, bytesWritten: 1, bytesCopied: 2, freed: [3]),
        ]
        var writer = WireWriter()
        for answer in answers { writer.put(answer) }
        try stage.work.send(writer)
        for answer in answers { #expect(try listener.next() == answer) }
        writer.put(answers[0])
        try stage.work.send(writer)
        for answer in answers.dropLast() { #expect(try listener.next() == answer) }
        #expect(throws: ProcessEnd.self) { try listener.next() }
    }

    @Test func `a surface is lent, used and taken back`() throws {
        let stage = try LyingProcess()
        try stage.wishes(.want(Self.layout))
        try stage.listen()
        #expect(try stage.hears() == .granted(slot: 0, kind: .memfd))
        #expect(stage.surfaces.statistics.inUse == 1)
        guard let use = stage.process.use(ofSlot: 0, visible: PixelRect(x: 0, y: 0, width: 64, height: 64)) else { Issue.record("no use"); return }
        #expect(stage.process.hasReaders)
        use.end()
        #expect(!stage.process.hasReaders)
        #expect(try stage.hears() == .released(slot: 0))
        try stage.wishes(.gone(slot: 0))
        try stage.listen()
        #expect(stage.surfaces.statistics.inUse == 0)
    }

    @Test func `a frame lies only in what was lent, and inside it`() throws {
        let stage = try LyingProcess()
        try stage.wishes(.want(Self.layout))
        try stage.listen()
        let size = Self.layout.size
        #expect(!stage.canUse(1, PixelRect(x: 0, y: 0, width: 8, height: 8)))
        for rect in [
            PixelRect(x: 0, y: 0, width: 0, height: 8), PixelRect(x: 1, y: 0, width: size.width, height: 8),
            PixelRect(x: 0, y: size.height, width: 8, height: 1),
        ] {
            #expect(!stage.canUse(0, rect))
        }
        #expect(stage.canUse(0, PixelRect(size)))
    }

    @Test func `memory that was not lent cannot be given back`() throws {
        for times in [1, 2] {
            let stage = try LyingProcess()
            if times == 2 {
                try stage.wishes(.want(Self.layout))
                try stage.wishes(.gone(slot: 0))
            }
            try stage.wishes(.gone(slot: 0))
            #expect(throws: ProcessEnd.self) { try stage.listen() }
        }
    }

    @Test func `no more memory is lent than the limits say`() throws {
        let stage = try LyingProcess(maximumCount: 2)
        for _ in 0..<3 { try stage.wishes(.want(Self.layout)) }
        try stage.listen()
        #expect(try stage.hears() == .granted(slot: 0, kind: .memfd))
        #expect(try stage.hears() == .granted(slot: 1, kind: .memfd))
        guard case .denied = try stage.hears() else { Issue.record("a third was lent"); return }
        let small = try LyingProcess(maximumByteCount: Self.layout.byteCount - 1)
        try small.wishes(.want(Self.layout))
        try small.listen()
        guard case .denied = try small.hears() else { Issue.record("more bytes were lent than allowed"); return }
    }

    @Test func `what it was lent comes back when it ends, but for what readers use`() throws {
        let stage = try LyingProcess()
        try stage.wishes(.want(Self.layout))
        try stage.wishes(.want(Self.layout))
        try stage.listen()
        guard let use = stage.process.use(ofSlot: 1, visible: PixelRect(Self.layout.size)) else { Issue.record("no use"); return }
        #expect(stage.surfaces.statistics.inUse == 2)
        stage.process.end()
        #expect(stage.surfaces.statistics.inUse == 1)
        use.end()
        #expect(stage.surfaces.statistics.inUse == 0)
    }

    /// It may keep a descriptor of what it gives back, and the memory with it.
    @Test func `memory that is lent and given back counts until the process ends`() throws {
        let stage = try LyingProcess(maximumByteCount: 4 * Self.layout.byteCount)
        func borrows(_ height: Int) throws {
            let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: height))
            try stage.wishes(.want(layout))
            try stage.listen()
            guard case .granted(let slot, _) = try stage.hears() else { return }
            try stage.wishes(.gone(slot: slot))
            try stage.listen()
        }
        // The same memory again and again.
        for _ in 0..<100 { try borrows(64) }
        #expect(stage.process.givenByteCount == Self.layout.byteCount)
        // Ever new memory.
        #expect(throws: ProcessEnd.self) { for height in 1..<200 { try borrows(4 * height) } }
    }

    @Test func `a claim to wait for readers is believed only while there are some`() throws {
        let stage = try LyingProcess()
        try stage.wishes(.pong(isExhausted: true))
        #expect(throws: ProcessEnd.self) { try stage.listen() }
    }
}
