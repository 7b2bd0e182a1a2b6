internal import CAV
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Where libavcodec gets the memory of its frames: the pool's own surfaces, through `get_buffer2`.
///
/// One reference-counted buffer stands for all planes of a surface. libavcodec's reference keeps the slot held; a
/// reader's use keeps such a reference too, so that decoders which update a frame in place see that it is not theirs to write.
///
/// Thread-safety: all of it; `fill` is called by libavcodec's threads, also at the same time.
@safe
final class SurfaceSource: Sendable {
    private struct Request: Equatable {
        var format: PixelFormat
        var width, height, alignment: Int32
    }

    private struct Current: InterruptibleState {
        var request: Request?
        var layout: SurfaceLayout?
        var pool: SurfacePool?
        var waited: SurfacePool? { pool }
        var isInterrupted = false
        var onExhausted: (@Sendable () -> Void)?
        /// The last answer for want of memory; taken by the session when the decoder reports the failure.
        var refusal: DecodingError?
    }

    private let current = Monitor(Current())
    private let allocator: any SurfaceAllocator
    private let maximumByteCount: Int
    private let maximumCount: Int
    private let patience: HostSpan
    private let rowAlignment: Int32

    /// 40: 16 reference pictures, 16 frames held back for reordering (H.264), and some being decoded.
    private static let decoderSlots = 40

    init(allocator: any SurfaceAllocator, options: DecoderOptions, threads: Int) {
        self.allocator = allocator
        maximumByteCount = options.maximumSurfaceBytes
        maximumCount = Self.maximumCount(options: options, threads: threads)
        rowAlignment = Int32(options.keptRowAlignment)
        // With all slots in the decoder's own hands only another of its threads can give one back, within the time of a frame.
        patience = threads > 1 ? .milliseconds(100) : .zero
    }

    /// Surfaces that decoding with `threads` threads and its readers can need at once.
    static func maximumCount(options: DecoderOptions, threads: Int) -> Int { decoderSlots + 2 * threads + options.holdCount }

    // MARK: For libavcodec

    /// Gives `frame` a surface of the size and format that it asks for; an `AVERROR` on failure.
    ///
    /// The corresponding C function is `AVCodecContext.get_buffer2`.
    func fill(_ frame: UnsafeMutablePointer<AVFrame>, for context: UnsafeMutablePointer<AVCodecContext>) -> Int32 {
        guard let format = unsafe PixelFormatTable.shared.format(of: frame.pointee.format) else {
            return unsafe avcodec_default_get_buffer2(context, frame, 0)
        }
        var width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        let alignment = unsafe cav_align_dimensions(context, &width, &height)
        guard width > 0, height > 0 else { return cav_error(EINVAL) }
        guard let surface = surface(for: Request(format: format, width: width, height: height, alignment: max(alignment, rowAlignment))) else {
            return current.withLock { $0.isInterrupted } ? cav_error_exit : cav_error(ENOMEM)
        }
        let retained = unsafe Unmanaged.passRetained(surface)
        let buffer = unsafe av_buffer_create(
            surface.base.assumingMemoryBound(to: UInt8.self), surface.layout.byteCount,
            { opaque, _ in unsafe Unmanaged<Surface>.fromOpaque(opaque!).takeRetainedValue().endWriting() },
            retained.toOpaque(), 0)
        guard let buffer = unsafe buffer else {
            unsafe retained.release()
            surface.endWriting()
            return cav_error(ENOMEM)
        }
        unsafe frame.pointee.buf.0 = buffer
        for plane in 0..<surface.layout.planeCount {
            let address = unsafe surface.address(ofPlane: plane).assumingMemoryBound(to: UInt8.self)
            unsafe cav_frame_set_plane(frame, Int32(plane), address, Int32(surface.layout.plane(plane).pitch))
        }
        unsafe cav_frame_use_own_planes(frame)
        return 0
    }

    private func surface(for request: Request) -> Surface? {
        let (pool, layout) = poolAndLayout(for: request)
        return writer(from: pool, layout: layout)?.detach()
    }

    /// A surface to copy a frame into that the decoder made in memory of its own.
    func writer(format: PixelFormat, width: Int32, height: Int32) -> SurfaceWriter? {
        let (pool, layout) = poolAndLayout(for: Request(format: format, width: width, height: height, alignment: rowAlignment))
        return writer(from: pool, layout: layout)
    }

    private func writer(from pool: SurfacePool, layout: SurfaceLayout) -> SurfaceWriter? {
        do throws(SurfaceError) {
            if let writer = try pool.acquire(layout, patience: patience) {
                if pool.isExhausted { tellExhausted() }
                return writer
            }
            refuse("a frame of \(layout.byteCount) bytes goes beyond the limit of \(maximumByteCount) bytes for all frames")
        } catch {
            refuse(error.description)
        }
        return nil
    }

    private func refuse(_ sentence: String) {
        current.withLock { if !$0.isInterrupted { $0.refusal = DecodingError(.outOfSurfaces, sentence) } }
    }

    private func poolAndLayout(for request: Request) -> (SurfacePool, SurfaceLayout) {
        current.withLock { current in
            if current.request != request {
                current.request = request
                current.layout = SurfaceLayout(
                    format: request.format, covering: PixelSize(width: Int(request.width), height: Int(request.height)),
                    pitchAlignment: Int(request.alignment))
            }
            let layout = current.layout!
            if let pool = current.pool { return (pool, layout) }
            let pool = SurfacePool(
                layout: layout, allocator: allocator, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
            current.pool = pool
            return (pool, layout)
        }
    }

    // MARK: For the session

    /// The surface that a frame of libavcodec's lies in, if it lies there as the layout says.
    func surface(of frame: UnsafePointer<AVFrame>) -> Surface? {
        guard let buffer = unsafe frame.pointee.buf.0, let pool = current.withLock({ $0.pool }) else { return nil }
        guard let surface = unsafe pool.surface(at: buffer.pointee.data) else { return nil }
        for plane in 0..<surface.layout.planeCount {
            guard unsafe cav_frame_plane(frame, Int32(plane)) == surface.address(ofPlane: plane).assumingMemoryBound(to: UInt8.self),
                unsafe Int(cav_frame_linesize(frame, Int32(plane))) == surface.layout.plane(plane).pitch
            else { return nil }
        }
        return surface
    }

    /// Makes decoder threads that wait for a surface give up, until `resume`.
    func interrupt() { current.interrupt() }
    func resume() { current.resume() }

    /// Why memory was refused since the last call.
    func takeRefusal() -> DecodingError? { current.withLock { $0.refusal.take() } }

    /// The next frame would have to wait for a surface.
    var isExhausted: Bool { current.withLock { $0.pool }?.isExhausted ?? false }

    /// Calls `body`, on the thread that took it, when the last surface that can be had has been taken: the next frame has to wait.
    func whenExhausted(_ body: @escaping @Sendable () -> Void) { current.withLock { $0.onExhausted = body } }

    /// The last surface has been taken, of this source or of the hardware in its place.
    func tellExhausted() { current.withLock { $0.onExhausted }?() }

    func trimIdle() { current.withLock { $0.pool }?.trimIdle(olderThan: .seconds(1)) }

    var statistics: SurfacePoolStatistics {
        current.withLock { $0.pool }?.statistics ?? SurfacePoolStatistics(capacity: maximumCount)
    }
    var layout: SurfaceLayout? { current.withLock { $0.layout } }
}
