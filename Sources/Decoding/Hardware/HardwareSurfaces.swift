internal import CAV
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Where a hardware decoder gets its surfaces: from a pool of ours, through `get_format` and `get_buffer2`.
///
/// libavcodec's `AVHWFramesContext` describes the surfaces but makes none of those that are decoded into. One reference-counted
/// buffer stands for a surface, as for memory of the CPU: libavcodec's reference keeps the slot held while it is a reference picture.
///
/// Thread-safety: `chooseFormat` and `fill` on the decoding thread; the rest from any.
@safe
final class HardwareSurfaces: Sendable {
    let device: VADevice
    private let options: DecoderOptions
    private let statistics: FrameStatistics
    private let deviceContext: DeviceContext
    private let current = Monitor(Current())

    private struct Current: InterruptibleState {
        var pool: SurfacePool?
        var waited: SurfacePool? { pool }
        var format: PixelFormat?
        var size = PixelSize(width: 0, height: 0)
        var isInterrupted = false
        var refusal: String?
    }

    /// libavcodec's reference to the device.
    @safe
    private final class DeviceContext: @unchecked Sendable {
        let reference: UnsafeMutablePointer<AVBufferRef>

        init?(_ device: VADevice) {
            guard let reference = unsafe cav_va_device_new(device.rawDisplay) else { return nil }
            unsafe self.reference = reference
        }

        deinit {
            var reference: UnsafeMutablePointer<AVBufferRef>? = unsafe reference
            unsafe av_buffer_unref(&reference)
        }
    }

    init(device: VADevice, options: DecoderOptions, statistics: FrameStatistics) throws(DecodingError) {
        guard let context = DeviceContext(device) else {
            throw DecodingError(.noHardware, "libavcodec does not take the driver of \(device.path)")
        }
        self.device = device
        self.options = options
        self.statistics = statistics
        deviceContext = context
    }

    // MARK: For libavcodec

    /// Prepares the decoder for hardware if it offers that. False when it does not, or when there are no surfaces of the kind that it needs.
    ///
    /// The corresponding C function is `AVCodecContext.get_format`.
    func prepare(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        var reference: UnsafeMutablePointer<AVBufferRef>?
        guard unsafe avcodec_get_hw_frames_parameters(context, deviceContext.reference, AV_PIX_FMT_VAAPI, &reference) >= 0,
            let frames = unsafe reference
        else {
            refuse("the driver does not decode streams of this kind")
            return false
        }
        // The decoder's frames come from `fill`.
        unsafe cav_frames_context_no_pool(frames)
        let description = unsafe cav_frames_context(frames)
        let size = unsafe PixelSize(width: Int(description!.pointee.width), height: Int(description!.pointee.height))
        let format = unsafe PixelFormatTable.shared.format(of: description!.pointee.sw_format.rawValue)
        guard let format, format == .nv12 || format == .p010le, unsafe av_hwframe_ctx_init(frames) >= 0, adopt(format, size) else {
            unsafe av_buffer_unref(&reference)
            refuse("the driver makes no surfaces of a format that can be shown")
            return false
        }
        unsafe av_buffer_unref(&context.pointee.hw_frames_ctx)
        unsafe context.pointee.hw_frames_ctx = frames
        return true
    }

    /// A pool for surfaces of this kind; the one there is if it fits.
    private func adopt(_ format: PixelFormat, _ size: PixelSize) -> Bool {
        if current.withLock({ $0.pool != nil && $0.format == format && $0.size == size }) { return true }
        do throws(SurfaceError) {
            let allocator = try VAAllocator(device: device, format: format, size: size, statistics: statistics)
            let pool = SurfacePool(
                layout: allocator.layout, allocator: allocator, maximumCount: Self.mostReferences + options.holdCount,
                maximumByteCount: max(options.maximumSurfaceBytes, allocator.layout.byteCount))
            let old = current.withLock { current -> SurfacePool? in
                defer {
                    current.pool = pool
                    current.format = format
                    current.size = size
                }
                return current.pool
            }
            old?.close()
            return true
        } catch {
            refuse(error.description)
            return false
        }
    }

    /// 36: 16 reference pictures, 16 former ones held back for reordering (H.264 and HEVC), two fields being decoded and two spare.
    private static let mostReferences = 36

    /// Gives `frame` a surface; an `AVERROR` on failure.
    ///
    /// The corresponding C function is `AVCodecContext.get_buffer2`.
    func fill(_ frame: UnsafeMutablePointer<AVFrame>, for context: UnsafeMutablePointer<AVCodecContext>) -> Int32 {
        // libavcodec 5.1 does not ask for another format when a VP8 stream changes its size.
        let width = unsafe Int(context.pointee.coded_width), height = unsafe Int(context.pointee.coded_height)
        let size = current.withLock { $0.size }
        guard width <= size.width, height <= size.height else {
            refuse("the frame is \(width)x\(height), its surface \(size.width)x\(size.height)")
            return cav_error(EINVAL)
        }
        guard let pool = current.withLock({ $0.pool }), let surface = acquire(pool) else {
            return current.withLock { $0.isInterrupted } ? cav_error_exit : cav_error(ENOMEM)
        }
        guard let va = surface.owner as? VASurface, let frames = unsafe av_buffer_ref(context.pointee.hw_frames_ctx) else {
            surface.endWriting()
            return cav_error(ENOMEM)
        }
        let retained = unsafe Unmanaged.passRetained(surface)
        let buffer = unsafe av_buffer_create(
            surface.base.assumingMemoryBound(to: UInt8.self), surface.layout.byteCount,
            { opaque, _ in unsafe Unmanaged<Surface>.fromOpaque(opaque!).takeRetainedValue().endWriting() },
            retained.toOpaque(), AV_BUFFER_FLAG_READONLY)
        guard let buffer = unsafe buffer else {
            unsafe retained.release()
            var frames: UnsafeMutablePointer<AVBufferRef>? = unsafe frames
            unsafe av_buffer_unref(&frames)
            surface.endWriting()
            return cav_error(ENOMEM)
        }
        unsafe frame.pointee.buf.0 = buffer
        unsafe frame.pointee.hw_frames_ctx = frames
        unsafe cav_frame_set_va_surface(frame, va.id)
        unsafe frame.pointee.width = context.pointee.coded_width
        unsafe frame.pointee.height = context.pointee.coded_height
        return 0
    }

    private func acquire(_ pool: SurfacePool) -> Surface? {
        do throws(SurfaceError) {
            if let writer = try pool.acquire(waitingUntil: nil) { return writer.detach() }
            refuse("all \(pool.statistics.capacity) surfaces are in use")
        } catch {
            refuse(error.description)
        }
        return nil
    }

    private func refuse(_ sentence: String) { current.withLock { if $0.refusal == nil { $0.refusal = sentence } } }

    // MARK: For the session

    /// The surface that a hardware frame lies in.
    func surface(of frame: UnsafePointer<AVFrame>) -> Surface? {
        guard unsafe frame.pointee.format == AV_PIX_FMT_VAAPI.rawValue, let buffer = unsafe frame.pointee.buf.0 else { return nil }
        guard let opaque = unsafe av_buffer_get_opaque(buffer) else { return nil }
        return unsafe Unmanaged<Surface>.fromOpaque(opaque).takeUnretainedValue()
    }

    /// Waits until the frame in `surface` is complete.
    /// - Returns: nil, or the reason why it never will be.
    func wait(for surface: Surface) -> String? {
        guard let va = surface.owner as? VASurface else { return nil }
        return device.wait(for: va, timeout: Self.longestDecode)
    }

    /// 2 s: a hundred times what a frame takes, and enough for a driver to reset the device.
    private static let longestDecode = HostSpan.seconds(2)

    func interrupt() { current.interrupt() }
    func resume() { current.resume() }

    /// Why there was no hardware or no surface since the last call.
    func takeRefusal() -> String? { current.withLock { $0.refusal.take() } }

    /// The next frame would have to wait for a surface.
    var isExhausted: Bool { current.withLock { $0.pool }?.isExhausted ?? false }

    var poolStatistics: SurfacePoolStatistics? { current.withLock { $0.pool }?.statistics }
}
