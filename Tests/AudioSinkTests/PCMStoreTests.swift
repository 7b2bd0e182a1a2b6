import Media
import TestSupport
import Testing

@testable import AudioSink

/// What is decoded ahead of the play head, and what becomes of gaps, overlaps and ends.
@Suite struct PCMStoreTests {
    /// 1000 frames a second, so that milliseconds are frames; a look-ahead of 1000, 2000 held, tolerance 10.
    private func store() throws -> (PCMStore, EventFD) {
        let bell = try EventFD()
        return (PCMStore(rate: 1000, channelCount: 2, bell: bell), bell)
    }
    /// Frames `first...` whose two channels are `n` and `-n`.
    private func insert(_ store: PCMStore, _ count: Int, value: Int, at milliseconds: Int64?, epoch: UInt64? = nil) -> Bool {
        let piece: [Float] = (0..<count).flatMap { (index: Int) -> [Float] in
            let level = Float(value + index)
            return [level, -level]
        }
        let time = milliseconds.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid
        return unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: time, epoch: epoch ?? store.epoch) }
    }
    private func read(_ store: PCMStore, _ first: Int64, _ count: Int) -> [Int] {
        var target = [Float](repeating: 99, count: 2 * count)
        unsafe target.withUnsafeMutableBufferPointer { unsafe store.read(at: first, into: $0) }
        return stride(from: 0, to: target.count, by: 2).map { Int(target[$0]) }
    }

    @Test func `what is not there is silence`() throws {
        let (store, _) = try store()
        #expect(read(store, -5, 3) == [0, 0, 0])
        #expect(insert(store, 3, value: 7, at: 100))
        #expect(read(store, 98, 7) == [0, 0, 7, 8, 9, 0, 0])
        #expect(store.contents == .init(start: 100, end: 103, isEnded: false, ends: 0))
    }

    @Test func `gaps are filled, overlaps trimmed, small errors passed over`() throws {
        let (store, _) = try store()
        #expect(insert(store, 20, value: 100, at: 0))
        #expect(insert(store, 20, value: 200, at: 28))
        #expect(store.contents.end == 40, "8 ms off is rounding")
        #expect(insert(store, 5, value: 300, at: 60))
        #expect(store.contents.end == 65)
        #expect(read(store, 39, 3) == [219, 0, 0] && read(store, 60, 2) == [300, 301])
        #expect(insert(store, 30, value: 400, at: 45))
        #expect(store.contents.end == 75 && read(store, 64, 3) == [304, 420, 421])
        #expect(insert(store, 10, value: 500, at: 20))
        #expect(store.contents.end == 75, "all of it was covered")
        #expect(insert(store, 2, value: 600, at: nil))
        #expect(read(store, 74, 4) == [429, 600, 601, 0])
    }

    /// What was inserted lies from 100 to 300; the time of the cut, the play head, and the end then.
    @Test(
        arguments: [
            (290, 0, 290), (250, 0, 250), (249, 0, 300), (300, 0, 300), (310, 0, 300), (280, 295, 295), (280, 400, 300), (280, 120, 280),
            (nil, 0, 300),
        ] as [(Int64?, Int64, Int64)])
    func `the end of a sound gives way to the next one, up to 50 ms of it and nothing that was taken`(
        _ time: Int64?, _ head: Int64, _ end: Int64
    ) throws {
        let (store, _) = try store()
        #expect(insert(store, 200, value: 1, at: 100))
        store.movePlayHead(to: head)
        let place = time.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid
        store.cut(at: place, epoch: store.epoch + 1)
        #expect(store.contents.end == 300, "another epoch's")
        store.cut(at: place, epoch: store.epoch)
        #expect(store.contents.end == end)
        // The next sound lies right there.
        #expect(insert(store, 10, value: 900, at: end) && read(store, end - 1, 2) == [Int(end) - 100, 900])
    }

    @Test func `time stamps that creep are not believed for long`() throws {
        let (store, _) = try store()
        for index in 0..<20 { #expect(insert(store, 50, value: 1 + 50 * index, at: 3 * Int64(index))) }
        // Six pieces lost 47 ms each before that was found out.
        #expect(store.contents.end == 718)
        #expect(read(store, 66, 4) == [349, 350, 351, 352])
        #expect(insert(store, 50, value: 5000, at: 800))
        #expect(store.contents.end == 850 && read(store, 798, 3) == [0, 0, 5000])
    }

    @Test func `the decoder waits for room and goes on with the play head; a second stays behind it`() throws {
        let (store, _) = try store()
        let log = Monitor<[Int64]>([])
        store.movePlayHead(to: 0)
        let thread = LoopThread(name: "decoder") {
            let piece = [Float](repeating: 1, count: 2 * 2500)
            let done = unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: .zero, epoch: store.epoch) }
            log.change { $0.append(done ? store.contents.end : -1) }
        }
        #expect(Polling.until { store.contents.end >= 1000 })
        #expect(Polling.holds(for: .milliseconds(20)) { store.contents.end == 1000 })
        store.movePlayHead(to: 100)
        store.movePlayHead(to: 600)
        #expect(Polling.until { store.contents.end >= 1600 })
        store.movePlayHead(to: 1800)
        thread.join()
        #expect(log.withLock { $0 } == [2500] && store.contents.start == 500)
    }

    @Test func `a flush lets a waiting decoder go, and refuses its piece`() throws {
        let (store, _) = try store()
        let old = store.epoch
        let thread = LoopThread(name: "decoder") {
            let piece = [Float](repeating: 1, count: 2 * 2500)
            let done = unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: .zero, epoch: old) }
            #expect(!done)
        }
        #expect(Polling.until { store.contents.end >= 1000 })
        store.clear()
        thread.join()
        #expect(store.contents.isEmpty && !insert(store, 1, value: 1, at: 0, epoch: old))
        store.markEnd(epoch: old)
        #expect(!store.contents.isEnded)
        #expect(insert(store, 1, value: 1, at: 90_000))
        #expect(store.contents.start == 90_000)
    }

    @Test func `an end is the same until sound comes`() throws {
        let (store, _) = try store()
        #expect(!store.markEnd(epoch: store.epoch) && store.markEnd(epoch: store.epoch))
        #expect(insert(store, 1, value: 1, at: 0))
        #expect(!store.markEnd(epoch: store.epoch) && store.markEnd(epoch: store.epoch))
        let old = store.epoch
        store.clear()
        #expect(!store.markEnd(epoch: old) && !store.markEnd(epoch: store.epoch))
    }

    @Test func `a reader who found nothing is rung once`() throws {
        let (store, bell) = try store()
        func rings() throws -> Bool {
            var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable)]
            defer { bell.drain() }
            return try pollDescriptors(&descriptors, until: .distantPast) == 1
        }
        #expect(insert(store, 1, value: 1, at: 0))
        #expect(try !rings())
        store.ringWhenFilled()
        #expect(insert(store, 1, value: 1, at: 1))
        #expect(try rings())
        #expect(insert(store, 1, value: 1, at: 2))
        #expect(try !rings())
        store.ringWhenFilled()
        store.markEnd(epoch: store.epoch)
        #expect(try rings())
    }

    @Test func `frames of large times are exact`() throws {
        let store = PCMStore(rate: 44100, channelCount: 1, bell: try EventFD())
        for second in [0, 1, 86_400, 10_000_000] as [Int64] {
            #expect(store.frame(atNanoseconds: second * 1_000_000_000) == second * 44100)
            #expect(store.frame(atNanoseconds: second * 1_000_000_000 + 22_676) == second * 44100 + 1)
            #expect(store.frame(atNanoseconds: -second * 1_000_000_000) == -second * 44100)
        }
    }
}
