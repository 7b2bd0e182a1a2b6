import FrameExport
import Media
import SurfacePool
import TestSupport
import TextureCache

/// A pool whose frames are noise of a known seed, behind an exporter.
final class Still {
    let pool: SurfacePool
    let exporter: FrameExporter
    let visible: PixelRect
    /// The visible bytes of the frame made last.
    var bytes: [UInt8] = []
    private let color: ColorDescription
    private var dice = Dice(seed: 5)
    private var count: UInt64 = 0

    init(
        format: PixelFormat, visible: PixelRect, slots: Int = 4, allocator: any SurfaceAllocator = MemfdAllocator(), color: ColorDescription = .bt709
    ) {
        let size = PixelSize(width: visible.x + visible.width, height: visible.y + visible.height)
        pool = SurfacePool(layout: SurfaceLayout(format: format, covering: size), allocator: allocator, maximumCount: slots)
        exporter = FrameExporter(FrameExporterConfiguration(delivery: .whenDecoded))
        self.visible = visible
        self.color = color
    }

    /// Noise for all of the memory.
    var whole: [UInt8] { dice.bytes(pool.layout.byteCount) }

    /// The next frame, of noise or colour bars.
    func next(bars: Bool = false) throws -> SharedFrame {
        guard let writer = try pool.acquire(waitingUntil: MonotonicClock.shared.now() + .seconds(60)) else {
            throw SoftwareGL.Failure(what: "no free surface")
        }
        unsafe writer.withUnsafeMutableBytes { bytes in
            if bars { unsafe ImportTests.paintBars(pool.layout, bytes) } else { unsafe bytes.copyBytes(from: dice.bytes(bytes.count)) }
        }
        let frame = VideoFrame(
            use: writer.finish(), visible: visible, attributes: FrameAttributes(color: color),
            presentationTime: MediaTime(value: Int64(count), timescale: 25), sequence: count)
        count += 1
        bytes = FrameBytes(frame).bytes
        return SharedFrame(frame)
    }

    /// The next frame as the exporter's client holds it.
    func held(bars: Bool = false) throws -> HeldFrame {
        exporter.offer(try next(bars: bars).copy())
        switch exporter.frame(for: .distantPast) {
        case .some(let exported): return HeldFrame(exported)
        case .none: throw SoftwareGL.Failure(what: "the frame is not exported")
        }
    }
}

extension RemoteFrameSource {
    /// The next frame, which must come soon.
    func receive() -> HeldFrame? {
        switch waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
        case .some(let frame): HeldFrame(frame)
        case .none: nil
        }
    }
}

extension HeldFrame {
    func textures(_ cache: EGLTextureCache) throws -> EGLTextures {
        let result = withFrame { frame in Unchecked(Result { try cache.textures(for: frame) }) }
        guard let result else { throw SoftwareGL.Failure(what: "the frame is taken") }
        return try result.value.get()
    }

    func textures(_ cache: VulkanTextureCache) throws -> VulkanTextures {
        let result = withFrame { frame in Unchecked(Result { try cache.textures(for: frame) }) }
        guard let result else { throw SoftwareGL.Failure(what: "the frame is taken") }
        return try result.value.get()
    }

    /// The frame, which must not have been taken.
    func taken() throws -> ExportedFrame {
        switch take() {
        case .some(let frame): return frame
        case .none: throw SoftwareGL.Failure(what: "the frame is taken")
        }
    }

    func release(through cache: EGLTextureCache) {
        switch take() {
        case .some(let frame): cache.release(frame)
        case .none: break
        }
    }

    func release() { take()?.release() }
}

/// Carries a value out of a lock on the same thread.
private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
