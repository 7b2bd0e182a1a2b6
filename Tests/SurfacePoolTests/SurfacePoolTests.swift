import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

private let small = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 50, height: 30))
private let large = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 500, height: 300))

/// A slot of `pool`, which must have one; the testing macros take no noncopyable values.
func acquired(from pool: SurfacePool) throws -> SurfaceWriter {
    guard let writer = try pool.acquire() else { throw PoolIsExhausted() }
    return writer
}

func isExhausted(_ pool: SurfacePool) throws -> Bool {
    switch try pool.acquire() {
    case .some: false
    case .none: true
    }
}

struct PoolIsExhausted: Error {}

/// A fence that a test signals: a `sync_file` is a descriptor that becomes readable, and so is a pipe's end.
struct HandmadeFence: ~Copyable {
    let reading: Int32
    private let writing: OwnedFD

    init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(errno, "make a pipe") }
        reading = ends[0]
        writing = OwnedFD(adopting: ends[1])
    }

    var file: SyncFile { SyncFile(adopting: OwnedFD(adopting: reading)) }
    func signal() { _ = unsafe write(writing.rawValue, "x", 1) }
}

@Suite("SurfacePool")
struct SurfacePoolTests {
    @Test("a slot returns to its pool when its last use ends, and is the next one written")
    func recycling() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 2)
        let first = try acquired(from: pool).finish()
        let identity = first.surface.identity
        let second = first.another()
        first.end()
        #expect(pool.statistics.inUse == 1)
        second.end()
        #expect(pool.statistics.inUse == 0)
        let again = try acquired(from: pool)
        #expect(again.surface.identity == identity)
        #expect(pool.statistics.allocations == 1)
    }

    @Test("an exhausted pool refuses, and tells when a slot is free again")
    func exhaustion() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let notices = Monitor(0)
        pool.whenFree { notices.change { $0 += 1 } }
        let use = try acquired(from: pool).finish()
        #expect(try isExhausted(pool))
        use.end()
        #expect(notices.withLock { $0 } == 1)
        try acquired(from: pool).finish().end()
        #expect(notices.withLock { $0 } == 1)
    }

    @Test("a waiting producer gets the slot that a consumer gives back, and gives up when interrupted or closed")
    func waiting() throws {
        enum Waker: CaseIterable { case release, interrupt, close }
        for waker in Waker.allCases {
            let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
            var use = Optional(try acquired(from: pool).finish())
            let got = Monitor<Bool?>(nil)
            let thread = LoopThread(name: "producer") {
                let writer = try? pool.acquire(waitingUntil: nil)
                let isGranted = writer != nil
                got.change { $0 = isGranted }
            }
            switch waker {
            case .release: use.take()?.end()
            case .interrupt: pool.interrupt()
            case .close: pool.close()
            }
            thread.join()
            #expect(got.withLock { $0 } == (waker == .release), "\(waker)")
            _ = consume use
        }
    }

    @Test("a producer that holds all slots itself does not wait for itself")
    func selfInflicted() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let writer = try acquired(from: pool)
        let second = try pool.acquire(waitingUntil: nil)
        let isRefused = second == nil
        #expect(isRefused)
        _ = consume writer
    }

    @Test("a slot whose use ended with a fence is not written before the fence signals")
    func fences() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let fence = try HandmadeFence()
        try acquired(from: pool).finish().end(after: fence.file)
        #expect(try isExhausted(pool))
        #expect(pool.statistics.inUse == 1)
        fence.signal()
        let writer = try pool.acquire(waitingUntil: nil)
        let isGranted = writer != nil
        #expect(isGranted)
    }

    @Test("a fence that has signalled already costs no wait")
    func signalledFence() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let fence = try HandmadeFence()
        fence.signal()
        try acquired(from: pool).finish().end(after: fence.file)
        #expect(pool.statistics.inUse == 0)
    }

    @Test("consumers hear that a surface is gone: when its generation is retired, it aged out or the pool closed, and its last use has ended")
    func goneSurfaces() throws {
        let gone = Monitor<[SurfaceIdentity]>([])
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 4)
        func imported() throws -> SurfaceUse {
            let use = try acquired(from: pool).finish()
            use.surface.onGone { identity in gone.change { $0.append(identity) } }
            return use
        }
        let retired = try imported()
        let identity = retired.surface.identity
        pool.retire(large)
        #expect(gone.withLock { $0 } == [])
        retired.end()
        #expect(gone.withLock { $0 } == [identity])

        let aged = try imported()
        let agedIdentity = aged.surface.identity
        #expect(agedIdentity.generation == identity.generation + 1)
        aged.end()
        pool.trimIdle(olderThan: .zero)
        #expect(gone.withLock { $0 } == [identity, agedIdentity])

        let last = try imported()
        let surface = last.surface
        last.end()
        pool.close()
        #expect(gone.withLock { $0 }.count == 3)
        surface.onGone { identity in gone.change { $0.append(identity) } }
        #expect(gone.withLock { $0 }.count == 4, "told at once when it has happened already")
    }

    @Test("a frame's copy keeps the surface when the frame is gone, and so does a shared one")
    func frames() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let frame = VideoFrame(
            use: try acquired(from: pool).finish(), visible: PixelRect(x: 0, y: 0, width: 50, height: 30), presentationTime: .zero, sequence: 0)
        let copy = frame.copy()
        _ = consume frame
        #expect(pool.statistics.inUse == 1)
        do {
            let shared = SharedFrame(copy)
            #expect(shared.visibleSize == PixelSize(width: 50, height: 30) && shared.pixelFormat == .yuv420p)
            #expect(pool.statistics.inUse == 1)
        }
        #expect(pool.statistics.inUse == 0)
    }

    @Test("readers that keep frames for random times never see them change")
    func useCounts() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 5)
        struct Held: ~Copyable {
            var use: SurfaceUse
            var mark: UInt8
        }
        let queue = Monitor(Ring<Held>(capacity: 64))
        let isDone = Monitor(false)
        let mistakes = Monitor(0)
        let readers = (0..<3).map { number in
            LoopThread(name: "reader \(number)") {
                var random = Dice(seed: UInt64(number) + 1)
                var mine = Ring<Held>(capacity: 4)
                func check(_ held: consuming Held) {
                    let mark = held.mark
                    let isIntact = unsafe held.use.surface.withUnsafeBytes { bytes in
                        unsafe bytes[0] == mark && memcmp(bytes.baseAddress!, bytes.baseAddress! + 1, bytes.count - 1) == 0
                    }
                    if !isIntact { mistakes.withLock { $0 += 1 } }
                }
                while true {
                    let next: Held? = queue.wait(until: MonotonicClock.shared.now() + .milliseconds(1)) { $0.popFirst() }
                    if let held = next {
                        if !mine.isFull { mine.append(held) } else { check(held) }
                    } else if isDone.withLock({ $0 }) {
                        break
                    }
                    if UInt.random(in: 0..<3, using: &random) == 0, let held = mine.popFirst() { check(held) }
                }
                while let held = mine.popFirst() { check(held) }
            }
        }
        for number in 0..<10_000 {
            guard let writer = try pool.acquire(waitingUntil: nil) else { throw PoolIsExhausted() }
            let mark = UInt8(truncatingIfNeeded: number)
            unsafe writer.withUnsafeMutableBytes { _ = unsafe memset($0.baseAddress!, Int32(mark), $0.count) }
            let use = writer.finish()
            for _ in 0..<(number % 3) {
                let extra = use.another()
                var held = Optional(Held(use: extra, mark: mark))
                queue.change { if !$0.isFull { $0.append(held.take()!) } }
            }
            use.end()
        }
        isDone.withLock { $0 = true }
        readers.forEach { $0.join() }
        #expect(mistakes.withLock { $0 } == 0)
        #expect(pool.statistics.inUse == 0)
    }
}
