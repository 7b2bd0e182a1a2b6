import CLinux
import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

/// Memory that a program brings: DMA-BUFs, memfds, plain bytes.
@Suite struct ForeignMemoryTests {
    private static let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 32))

    /// A memfd as a program would make one, without seals, whose bytes count up.
    private func memfd(_ byteCount: Int = layout.byteCount) throws -> OwnedFD {
        let descriptor = OwnedFD(adopting: unsafe clinux_memfd("theirs"))
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(unsafe pwrite(descriptor.rawValue, bytes, byteCount, 0) == byteCount)
        return descriptor
    }

    private func isCounting(_ surface: Surface) -> Bool {
        unsafe surface.withUnsafeBytes { bytes in bytes.indices.allSatisfy { unsafe bytes[$0] == UInt8(truncatingIfNeeded: $0 &* 7) } }
    }

    @Test func `a memfd is read in place, and given back once when its last reader has ended`() throws {
        let released = Monitor(0)
        let descriptor = try memfd(), copy = try descriptor.duplicate()
        let use = try SurfaceUse(SurfaceMemory(memfd: descriptor) { released.withLock { $0 += 1 } }, Self.layout)
        let surface = use.surface
        #expect(surface.memoryKind == .memfd && surface.memfd == surface.fd && !surface.isDMABuf && surface.isReadable && surface.isInUse)
        #expect(isCounting(surface))
        #expect(ftruncate(copy.rawValue, 0) == -1 && errno == EPERM, "the library has sealed it")
        let other = use.another()
        use.end()
        #expect(released.withLock { $0 } == 0 && surface.isInUse)
        other.end()
        // The object still maps the memory.
        #expect(!surface.isInUse)
        let identity = surface.identity
        let next = try SurfaceUse(SurfaceMemory(memfd: copy), Self.layout)
        #expect(next.surface.identity != identity)
    }

    @Test func `other processes get one descriptor of a memfd, for reading only`() throws {
        let use = try SurfaceUse(SurfaceMemory(memfd: memfd()), Self.layout)
        let surface = use.surface, lent = surface.readOnlyFD
        #expect(lent != surface.fd && surface.readOnlyFD == lent)
        var ours = stat(), theirs = stat()
        #expect(unsafe fstat(surface.fd, &ours) == 0 && fstat(lent, &theirs) == 0 && ours.st_ino == theirs.st_ino)
        #expect(unsafe pwrite(lent, "x", 1, 0) == -1 && errno == EBADF)
        #expect(unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, lent, 0) == MAP_FAILED)
    }

    @Test func `the memory goes with the last reader, its fence and the surface object`() throws {
        let released = Monitor(0)
        let fence = try HandmadeFence()
        do {
            let use = try SurfaceUse(SurfaceMemory(memfd: memfd()) { released.change { $0 += 1 } }, Self.layout)
            use.end(after: fence.file)
        }
        #expect(released.withLock { $0 } == 0, "a device still reads")
        fence.signal()
        let count: Int? = released.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 > 0 ? $0 : nil }
        #expect(count == 1)
    }

    @Test func `plain bytes have no descriptor and are read in place`() throws {
        let released = Monitor(0)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.layout.byteCount, alignment: 64)
        defer { unsafe memory.deallocate() }
        for index in memory.indices { unsafe memory[index] = UInt8(truncatingIfNeeded: index &* 7) }
        do {
            let use = try unsafe SurfaceUse(SurfaceMemory(bytes: memory) { released.withLock { $0 += 1 } }, Self.layout)
            #expect(use.surface.readOnlyFD == -1)
            #expect(use.surface.fd == -1 && use.surface.memfd == nil && !use.surface.isDMABuf && use.surface.memoryKind == .plain)
            #expect(isCounting(use.surface))
            unsafe memory[0] = 99
            let first = unsafe use.surface.withUnsafeBytes { unsafe $0[0] }
            #expect(first == 99, "there is no copy")
        }
        #expect(released.withLock { $0 } == 1)
    }

    @Test func `memory that is not what it is said to be is refused, and given back once`() throws {
        let released = Monitor(0)
        let end: @Sendable () -> Void = { released.withLock { $0 += 1 } }
        func code(_ body: () throws -> Void) -> SurfaceError.Code? {
            do { try body() } catch { return (error as? SurfaceError)?.code }
            return nil
        }
        let zero = unsafe open("/dev/zero", O_RDWR | O_CLOEXEC)
        #expect(code { _ = try SurfaceMemory(memfd: OwnedFD(adopting: zero), byteCount: 4096, onRelease: end) } == .unavailable)
        #expect(code { _ = try SurfaceMemory(memfd: memfd(100), byteCount: 101, onRelease: end) } == .unavailable)
        #expect(code { _ = try SurfaceMemory(dmabuf: memfd(), onRelease: end) } == .unavailable)
        #expect(released.withLock { $0 } == 3)
        #expect(code { _ = try SurfaceUse(SurfaceMemory(memfd: memfd(Self.layout.byteCount - 1), onRelease: end), Self.layout) } == .layout)
        #expect(released.withLock { $0 } == 4)
    }

    /// An allocator as a program outside would write one: a fixed set of buffers of a device's.
    private struct TheirAllocator: SurfaceAllocator {
        let name = "theirs"
        let released: Monitor<Int>
        var isShort = false

        func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
            let descriptor = OwnedFD(adopting: unsafe clinux_memfd("theirs"))
            guard ftruncate(descriptor.rawValue, isShort ? layout.byteCount - 1 : layout.byteCount) == 0 else {
                throw SurfaceError(.noMemory, "no memory")
            }
            return try SurfaceMemory(memfd: descriptor) { [released] in released.withLock { $0 += 1 } }
        }
    }

    @Test func `a program's own allocator serves a pool, which uses its memory again`() throws {
        let released = Monitor(0)
        do {
            let pool = SurfacePool(layout: Self.layout, allocator: TheirAllocator(released: released), maximumCount: 2)
            for round in 0..<10 {
                let writer = try acquired(from: pool)
                unsafe writer.withUnsafeMutableBytes { unsafe $0[5] = UInt8(round) }
                let use = writer.finish()
                let byte = unsafe use.surface.withUnsafeBytes { unsafe $0[5] }
                #expect(byte == UInt8(round))
            }
            #expect(pool.statistics.allocations == 1 && released.withLock { $0 } == 0)
        }
        #expect(released.withLock { $0 } == 1)
        let short = SurfacePool(layout: Self.layout, allocator: TheirAllocator(released: released, isShort: true), maximumCount: 2)
        #expect(throws: SurfaceError.self) { _ = try acquired(from: short) }
        #expect(released.withLock { $0 } == 2 && short.statistics.allocated == 0)
    }

    private static let hasUDMABuf = (try? UDMABufAllocator()) != nil

    @Test(.enabled(if: hasUDMABuf, "needs /dev/udmabuf"))
    func `a DMA-BUF is mapped as far as its exporter allows, and other layouts are for importers only`() throws {
        let pool = SurfacePool(layout: Self.layout, allocator: try UDMABufAllocator(), maximumCount: 1)
        let writer = try acquired(from: pool)
        unsafe writer.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: index &* 7) }
        }
        let theirs = writer.finish()
        let released = Monitor(0)
        func duplicate() -> OwnedFD { OwnedFD(adopting: fcntl(theirs.surface.fd, F_DUPFD_CLOEXEC, 0)) }
        do {
            let use = try SurfaceUse(SurfaceMemory(dmabuf: duplicate()) { released.withLock { $0 += 1 } }, Self.layout)
            #expect(use.surface.isDMABuf && use.surface.memoryKind == .dmabuf && use.surface.memfd == nil && isCounting(use.surface))
            let tiled = SurfaceLayout(
                format: .nv12, size: Self.layout.size, modifier: FormatModifier(rawValue: 0x0100_0000_0000_0002),
                planes: [Self.layout.plane(0), Self.layout.plane(1)], byteCount: Self.layout.byteCount)
            let unreadable = try SurfaceUse(SurfaceMemory(dmabuf: duplicate()), tiled)
            let isBlank = unsafe unreadable.surface.withUnsafeBytes { unsafe $0.allSatisfy { $0 == 0 } }
            #expect(!unreadable.surface.isReadable && isBlank)
        }
        #expect(released.withLock { $0 } == 1)
        #expect(throws: SurfaceError.self) { _ = try SurfaceMemory(dmabuf: duplicate(), byteCount: Self.layout.byteCount + 1) }
    }

    @Test(
        arguments: [
            (.nv12, 64, 32, [(0, 64), (2048, 64)], 3072, nil), (.nv12, 64, 32, [(0, 64), (2048, 64)], 3071, "Plane 1 reaches beyond the memory."),
            (.nv12, 64, 32, [(0, 63), (2048, 64)], 4096, "A row of plane 0 is longer than its pitch."),
            (.nv12, 64, 32, [(0, 64)], 4096, "nv12 has 2 planes."), (.gray, 0, 5, [(0, 64)], 4096, "No frame has this size."),
            (.gray, 1 << 20, 1 << 20, [(0, Int(Int32.max))], .max, nil), (.gray, 1, 1, [(0, .max)], .max, "Plane 0 begins outside the memory."),
            (.gray, 8, 8, [(-1, 8)], 64, "Plane 0 begins outside the memory."), (.gray, 8, 8, [], 64, "A frame has one to four planes."),
            (.gray, 8, 8, [(0, 8)], 0, "The memory is empty."), (.pal8, 8, 8, [(0, 8), (64, 1024)], 1088, nil),
            (.pal8, 8, 8, [(0, 8), (64, 1024)], 1087, "Plane 1 reaches beyond the memory."),
        ] as [(PixelFormat, Int, Int, [(Int, Int)], Int, String?)])
    func `layouts from elsewhere are checked`(
        format: PixelFormat, width: Int, height: Int, planes: [(Int, Int)], byteCount: Int, sentence: String?
    ) {
        let places = planes.map { SurfaceLayout.Plane(offset: $0.0, pitch: $0.1) }
        var found: String?
        do throws(SurfaceError) {
            let size = PixelSize(width: width, height: height)
            let layout = try SurfaceLayout(checking: format, size: size, modifier: .linear, planes: places, byteCount: byteCount)
            #expect(layout.planeCount == planes.count && layout.byteCount == byteCount)
        } catch {
            found = error.description
            #expect(error.code == .layout)
        }
        #expect(found == sentence)
    }
}
