import CLinux
import Glibc
import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

extension LyingProcess {
    fileprivate static func onHardware(maximumCount: Int = 3, maximumByteCount: Int = 1 << 30) throws -> LyingProcess {
        try LyingProcess(maximumCount: maximumCount, maximumByteCount: maximumByteCount, drivesDevice: true)
    }

    /// - Parameter descriptor: nil gives none.
    fileprivate func offers(_ slot: UInt32, _ layout: SurfaceLayout, _ descriptor: Int32?) throws {
        try wishes(.offer(slot: slot, layout), descriptors: descriptor.map { [$0] } ?? [])
    }

    fileprivate func withdraws(_ slot: UInt32) throws { try wishes(.gone(slot: slot)) }

    fileprivate func isHeard(_ descriptor: borrowing OwnedFD?, _ layout: SurfaceLayout = OfferedMemoryTests.layout) -> Bool {
        let number: Int32?
        switch descriptor {
        case .some(let owned): number = owned.rawValue
        case .none: number = nil
        }
        do {
            try offers(0, layout, number)
            try listen()
            return true
        } catch { return false }
    }
}

/// A decoder process on hardware that lies about the memory that it gives: each lie ends it.
@Suite struct OfferedMemoryTests {
    fileprivate static let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 64))

    private static func memfd(_ byteCount: Int, isSealed: Bool = true) throws -> OwnedFD {
        let memory = OwnedFD(adopting: unsafe clinux_memfd("offered"))
        guard ftruncate(memory.rawValue, byteCount) == 0, !isSealed || clinux_memfd_seal_shrink(memory.rawValue) == 0 else {
            throw SystemError(errno, "make a memfd")
        }
        return memory
    }

    @Test func `memory that is what it is said to be becomes a surface, whose bytes are the process's`() throws {
        let stage = try LyingProcess.onHardware(), memory = try Self.memfd(Self.layout.byteCount)
        try stage.offers(7, Self.layout, memory.rawValue)
        try stage.listen()
        var letter: UInt8 = 77
        #expect(unsafe pwrite(memory.rawValue, &letter, 1, 5) == 1)
        guard let use = stage.process.use(ofSlot: 7, visible: PixelRect(x: 0, y: 0, width: 64, height: 64)) else { Issue.record("no use"); return }
        #expect(use.surface.layout == Self.layout && use.surface.memoryKind == .va && !use.surface.isDMABuf)
        let read = unsafe use.surface.withUnsafeBytes { unsafe $0[5] }
        #expect(read == 77)
        #expect(stage.process.hasReaders && stage.process.offered(capacity: 9)?.byteCount == Self.layout.byteCount)
    }

    @Test(.enabled(if: udmabuf != nil, "this kernel makes no DMA-BUFs of plain memory"))
    func `a DMA-BUF is memory, too, as large as it is`() throws {
        let pool = SurfacePool(layout: Self.layout, allocator: try #require(Self.udmabuf), maximumCount: 1)
        guard let writer = try pool.acquire() else { Issue.record("no surface"); return }
        let surface = writer.surface
        let stage = try LyingProcess.onHardware()
        try stage.offers(7, Self.layout, surface.fd)
        try stage.listen()
        guard let use = stage.process.use(ofSlot: 7, visible: PixelRect(x: 0, y: 0, width: 64, height: 64)) else { Issue.record("no use"); return }
        #expect(use.surface.isDMABuf)
        let planes = [Self.layout.plane(0), Self.layout.plane(1)]
        let larger = SurfaceLayout(
            format: .nv12, size: Self.layout.size, modifier: .linear, planes: planes, byteCount: Self.layout.byteCount + 4096)
        try stage.offers(8, larger, surface.fd)
        #expect(throws: ProcessEnd.self) { try stage.listen() }
    }

    private static let udmabuf = SurfaceAllocators.findings().first { $0.name == "udmabuf" }?.allocator

    @Test func `its surfaces outlive it while somebody reads them, and no longer`() throws {
        for isWithdrawn in [true, false] {
            let stage = try LyingProcess.onHardware(), memory = try Self.memfd(Self.layout.byteCount)
            try stage.offers(0, Self.layout, memory.rawValue)
            try stage.listen()
            guard let use = stage.process.use(ofSlot: 0, visible: PixelRect(Self.layout.size)) else { Issue.record("no use"); return }
            let gone = Monitor(false)
            use.surface.onGone { _ in gone.withLock { $0 = true } }
            if isWithdrawn {
                try stage.withdraws(0)
                try stage.listen()
                #expect(stage.process.offered(capacity: 9)?.byteCount == 0)
            } else {
                stage.process.end()
            }
            #expect(!gone.withLock { $0 })
            let count = unsafe use.surface.withUnsafeBytes { $0.count }
            #expect(count == Self.layout.byteCount)
            use.end()
            #expect(gone.withLock { $0 })
        }
    }

    @Test func `what is no memory, or could become smaller, or is smaller than it is said to be, ends it`() throws {
        let byteCount = Self.layout.byteCount
        #expect(try LyingProcess.onHardware().isHeard(Self.memfd(byteCount)))
        #expect(try !LyingProcess.onHardware().isHeard(nil))
        #expect(try !LyingProcess.onHardware().isHeard(Self.memfd(byteCount, isSealed: false)))
        #expect(try !LyingProcess.onHardware().isHeard(Self.memfd(byteCount - 1)))
        #expect(try !LyingProcess.onHardware().isHeard(OwnedFD(adopting: unsafe open("/dev/null", O_RDWR | O_CLOEXEC))))
        #expect(try !LyingProcess.onHardware().isHeard(OwnedFD(adopting: unsafe open("/dev/zero", O_RDWR | O_CLOEXEC))))
        #expect(try !LyingProcess.onHardware().isHeard(OwnedFD(adopting: unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC))))
        let (end, _) = try PacketSocket.pair()
        #expect(try !LyingProcess.onHardware().isHeard(OwnedFD(adopting: dup(end.rawValue))))
    }

    @Test func `a process for software gives none, and one on hardware is lent none`() throws {
        #expect(try !LyingProcess(maximumByteCount: 1 << 30).isHeard(Self.memfd(Self.layout.byteCount)))
        let stage = try LyingProcess.onHardware()
        var writer = WireWriter()
        writer.put(.want(Self.layout))
        try stage.memory.send(writer)
        try stage.listen()
        guard case .message(let bytes, _) = try stage.memory.receive(), case .denied = try MemoryGrant(bytes[...]) else {
            Issue.record("it was lent memory")
            return
        }
    }

    @Test func `a number is given once, and not more than the limits allow`() throws {
        let memory = try Self.memfd(Self.layout.byteCount)
        let twice = try LyingProcess.onHardware()
        for _ in 0..<2 { try twice.offers(3, Self.layout, memory.rawValue) }
        #expect(throws: ProcessEnd.self) { try twice.listen() }

        let many = try LyingProcess.onHardware(maximumCount: 3)
        for slot in 0..<6 { try many.offers(UInt32(slot), Self.layout, memory.rawValue) }
        try many.listen()
        try many.offers(6, Self.layout, memory.rawValue)
        #expect(throws: ProcessEnd.self) { try many.listen() }

        let large = try LyingProcess.onHardware(maximumByteCount: Self.layout.byteCount)
        for slot in 0..<2 { try large.offers(UInt32(slot), Self.layout, memory.rawValue) }
        try large.listen()
        try large.offers(2, Self.layout, memory.rawValue)
        #expect(throws: ProcessEnd.self) { try large.listen() }

        let first = try LyingProcess.onHardware(maximumByteCount: Self.layout.byteCount - 1)
        try first.offers(0, Self.layout, memory.rawValue)
        #expect(throws: ProcessEnd.self) { try first.listen() }
    }

    @Test func `a frame that cannot be mapped is black when the process does not read it`() throws {
        let stage = try LyingProcess.onHardware(), memory = try Self.memfd(Self.layout.byteCount)
        var letter: UInt8 = 77
        #expect(unsafe pwrite(memory.rawValue, &letter, 1, 5) == 1)
        let tiled = SurfaceLayout(
            format: .nv12, size: Self.layout.size, modifier: FormatModifier(rawValue: 0x0100_0000_0000_0002),
            planes: [Self.layout.plane(0), Self.layout.plane(1)], byteCount: Self.layout.byteCount)
        try stage.offers(0, tiled, memory.rawValue)
        try stage.listen()
        guard let use = stage.process.use(ofSlot: 0, visible: PixelRect(Self.layout.size)) else { Issue.record("no use"); return }
        stage.process.kill()
        let isBlack = unsafe use.surface.withUnsafeBytes { unsafe $0.allSatisfy { $0 == 0 } }
        #expect(isBlack)
    }
}
