internal import CAV
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Gives an encoder of a device frames as surfaces of the device: those of its own decoder as they are, DMA-BUFs of others imported once, and what
/// lies in memory that the device does not read by one copy.
///
/// A frame is in use until libavcodec has dropped it, which it does when the device has encoded it (`vaSyncBuffer`).
///
/// Thread-safety: one thread at a time.
@safe
final class DeviceSurfaces: @unchecked Sendable {
    let device: VADevice
    let format: PixelFormat
    private let size: PixelSize
    private let statistics: FrameStatistics
    /// libavcodec's descriptions of the device and of the surfaces.
    private let deviceContext: UnsafeMutablePointer<AVBufferRef>
    let framesContext: UnsafeMutablePointer<AVBufferRef>
    private var imports = SurfaceCache<VASurface>()
    /// Why memory with such a layout is not imported.
    private var refusals: [SurfaceLayout: String] = [:]
    /// For frames that are copied; made with the first.
    private var uploads: SurfacePool?

    /// Surfaces of copied frames that the encoder may hold: more than libavcodec's encoders ever do.
    private static let mostHeld = 96

    init(_ device: VADevice, format: PixelFormat, size: PixelSize, statistics: FrameStatistics) throws(EncodingError) {
        guard let context = unsafe cav_va_device_new(device.rawDisplay) else {
            throw EncodingError(.cannotOpen, "libavcodec does not take the driver of \(device.path)")
        }
        let number = PixelFormatTable.shared.number(of: format)
        guard let frames = unsafe cav_va_frames_new(context, AVPixelFormat(number), Int32(size.width), Int32(size.height)) else {
            var context: UnsafeMutablePointer<AVBufferRef>? = unsafe context
            unsafe av_buffer_unref(&context)
            throw EncodingError(.cannotOpen, "the driver of \(device.path) makes no surfaces of \(size) in \(format.rawValue)")
        }
        self.device = device
        self.format = format
        self.size = size
        self.statistics = statistics
        unsafe deviceContext = context
        unsafe framesContext = frames
    }

    deinit {
        var frames: UnsafeMutablePointer<AVBufferRef>? = unsafe framesContext, context: UnsafeMutablePointer<AVBufferRef>? = unsafe deviceContext
        unsafe av_buffer_unref(&frames)
        unsafe av_buffer_unref(&context)
    }

    /// Whether frames in `other` need no conversion: they have the surfaces' samples, together or in planes of their own.
    static func takes(_ other: PixelFormat, as format: PixelFormat) -> Bool {
        format == .p010le ? [.p010le, .yuv420p10le].contains(other) : [.nv12, .yuv420p, .yuvj420p].contains(other)
    }

    /// Points libavcodec's frame at a surface of the device. The frame's use ends when libavcodec drops its last reference.
    ///
    /// - Parameter frame: In a format that `takes` says yes to, of the encoder's size.
    /// - Returns: Why the frame had to be copied; nil when it was not.
    /// - Throws: `.unsupportedPixelFormat` where the frame can be neither imported nor copied.
    func lend(_ frame: consuming VideoFrame, to target: UnsafeMutablePointer<AVFrame>) throws(EncodingError) -> String? {
        // Those that the encoder still reads are destroyed when it has.
        _ = imports.takeGone()
        let place = try decide(frame)
        let held: Held, reason: String?
        switch place {
        case .itself(let surface): (held, reason) = (Held(surface, SharedFrame(frame)), nil)
        case .copy(let why):
            let copy = try upload(frame)
            (held, reason) = (copy, why)
        }
        guard let frames = unsafe av_buffer_ref(framesContext) else { throw EncodingError(.encoder, "no memory for a frame") }
        let retained = unsafe Unmanaged.passRetained(held)
        let buffer = unsafe av_buffer_create(
            nil, 0, { opaque, _ in unsafe Unmanaged<Held>.fromOpaque(opaque!).release() }, retained.toOpaque(), AV_BUFFER_FLAG_READONLY)
        guard let buffer = unsafe buffer else {
            unsafe retained.release()
            var frames: UnsafeMutablePointer<AVBufferRef>? = unsafe frames
            unsafe av_buffer_unref(&frames)
            throw EncodingError(.encoder, "no memory for a frame")
        }
        unsafe target.pointee.buf.0 = buffer
        unsafe target.pointee.hw_frames_ctx = frames
        unsafe cav_frame_set_va_surface(target, held.surface.id)
        unsafe target.pointee.format = AV_PIX_FMT_VAAPI.rawValue
        unsafe target.pointee.width = Int32(size.width)
        unsafe target.pointee.height = Int32(size.height)
        return reason
    }

    /// What must stay while the encoder reads.
    private final class Held: Sendable {
        let surface: VASurface
        private let frame: SharedFrame

        init(_ surface: VASurface, _ frame: SharedFrame) {
            self.surface = surface
            self.frame = frame
        }
    }

    private enum Place {
        /// The device reads the frame where it lies.
        case itself(VASurface)
        /// It does not, for this reason.
        case copy(String)
    }

    private func decide(_ frame: borrowing VideoFrame) throws(EncodingError) -> Place {
        let surface = frame.surface, layout = surface.layout
        guard layout.format == format else { return .copy("the frame is \(layout.format.rawValue), the device encodes \(format.rawValue)") }
        guard frame.visible.x == 0, frame.visible.y == 0 else { return .copy("the visible part does not begin in the surface's corner") }
        if let own = surface.owner as? VASurface, own.device === device { return .itself(own) }
        guard surface.isDMABuf || surface.memoryKind == .va, surface.fd >= 0, layout.planeCount >= 2 else {
            return .copy("the device does not read \(surface.memoryKind.rawValue) memory")
        }
        if let known = imports[surface.identity] { return .itself(known) }
        if let reason = refusals[layout] { return .copy(reason) }
        do throws(SurfaceError) {
            let made = try VASurface(importing: surface, device: device)
            imports.insert(made, for: surface)
            return .itself(made)
        } catch {
            var reason = error.description
            if reason.hasSuffix(".") { reason.removeLast() }
            if reason.hasPrefix("The ") { reason = "t" + reason.dropFirst() }
            refusals[layout] = reason
            guard surface.isReadable else {
                throw EncodingError(.unsupportedPixelFormat, "the frame lies in memory that only devices read, and \(reason)", status: error.status)
            }
            return .copy(reason)
        }
    }

    private func upload(_ frame: borrowing VideoFrame) throws(EncodingError) -> Held {
        guard frame.surface.isReadable else {
            throw EncodingError(.unsupportedPixelFormat, "the frame lies in memory that only devices read, and this one does not import it")
        }
        do throws(SurfaceError) {
            let pool = try pool()
            guard let writer = try pool.acquire() else { throw SurfaceError(.noMemory, "The encoder holds all surfaces.") }
            guard let surface = writer.surface.owner as? VASurface else { throw SurfaceError(.unavailable, "The surface is no device's.") }
            if let reason = surface.write(frame) { throw SurfaceError(.unavailable, "The driver takes no frame: \(reason).") }
            statistics.addCopied(format.byteCount(width: size.width, height: size.height))
            let copy = VideoFrame(
                use: writer.finish(), visible: PixelRect(size), presentationTime: frame.presentationTime, sequence: frame.sequence)
            return Held(surface, SharedFrame(copy))
        } catch {
            throw EncodingError(.encoder, "the encoder cannot be given the frame: \(error.description)", status: error.status)
        }
    }

    private func pool() throws(SurfaceError) -> SurfacePool {
        if let uploads { return uploads }
        let allocator = try VAAllocator(device: device, format: format, size: size, statistics: statistics)
        let pool = SurfacePool(layout: allocator.layout, allocator: allocator, maximumCount: Self.mostHeld)
        uploads = pool
        return pool
    }
}
