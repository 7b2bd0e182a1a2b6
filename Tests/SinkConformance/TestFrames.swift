public import Media
public import SurfacePool

/// Makes frames whose frames can be told apart: every byte of a frame follows from its number.
///
/// Thread-safety: all of it.
public final class TestFrames: Sendable {
    public let pool: SurfacePool
    private let size: PixelSize

    /// - Parameter maximumCount: Surfaces that may be in use at once.
    public init(
        format: PixelFormat = .yuv420p, size: PixelSize = PixelSize(width: 64, height: 48), maximumCount: Int = 16,
        allocator: any SurfaceAllocator = MemfdAllocator()
    ) {
        self.size = size
        pool = SurfacePool(layout: SurfaceLayout(format: format, covering: size), allocator: allocator, maximumCount: maximumCount)
    }

    /// Frame `number` of a film of `rate` frames a second. Waits while every surface is in use, 10 s at most.
    public func frame(_ number: Int, rate: Int32 = 100, flags: VideoFrame.Flags = []) throws -> VideoFrame {
        let time = MediaTime(value: Int64(number), timescale: rate)
        return try frame(number, at: time, duration: MediaTime(value: 1, timescale: rate), flags: flags)
    }

    /// Frame `number` with the times given.
    public func frame(_ number: Int, at time: MediaTime, duration: MediaTime, flags: VideoFrame.Flags = []) throws -> VideoFrame {
        guard let writer = try pool.acquire(waitingUntil: MonotonicClock.shared.now() + .seconds(60)) else { throw NoSurface() }
        unsafe writer.withUnsafeMutableBytes { bytes in
            // Memory is filled as words: a test that makes 10,000 frames spends its time elsewhere.
            let words = unsafe bytes.bindMemory(to: UInt64.self)
            for index in words.indices { unsafe words[index] = Self.word(number, index) }
        }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(size), presentationTime: time, duration: duration,
            sourceTimestamp: time.isNumeric ? time.value : nil, sourceTimeBase: Ratio(1, max(time.timescale, 1)), flags: flags,
            sequence: UInt64(number))
    }

    /// The word at `index` of frame `number`.
    public static func word(_ number: Int, _ index: Int) -> UInt64 {
        (UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15) ^ (UInt64(truncatingIfNeeded: index) &* 0xc2b2_ae3d_27d4_eb4f)
    }

    /// Surfaces held by anybody.
    public var inUse: Int { pool.statistics.inUse }

    /// Every surface of a pool stayed in use for a minute.
    public struct NoSurface: Error {}
}
