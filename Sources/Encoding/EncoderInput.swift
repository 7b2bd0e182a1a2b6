internal import CAV
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Gives an encoder frames in the form that it takes: in place where that form is the frame's own, else by one conversion.
///
/// Thread-safety: `convert` on one thread at a time; `conversion` from any.
@safe
final class EncoderInput: Sendable {
    let format: PixelFormat
    let size: PixelSize
    let color: ColorDescription
    /// nil for software.
    private let device: DeviceSurfaces?
    private let converter: PixelTransferSession
    private let report = Monitor<ConversionReport?>(nil)

    /// Converted frames that an encoder may hold: its threads', and those it reorders.
    private static let mostHeld = 96

    init(
        format: PixelFormat, size: PixelSize, color: ColorDescription, allocator: any SurfaceAllocator, statistics: FrameStatistics,
        device: DeviceSurfaces? = nil
    ) {
        self.format = format
        self.size = size
        self.color = color
        self.device = device
        let target = ConversionTarget(
            format: format, size: size, matrix: format.description.model == .yuv && color.matrix != 2 ? color.matrix : nil, range: color.range,
            chromaSiting: color.chromaSiting)
        converter = PixelTransferSession(to: target, allocator: allocator, holdCount: Self.mostHeld, statistics: statistics)
    }

    /// What is converted, and why; nil while the encoder reads every frame in place.
    var conversion: ConversionReport? { report.withLock { $0 } }

    /// A frame in the form that the encoder takes.
    struct Form: ~Copyable {
        let frame: VideoFrame
        /// It is another frame than the caller's.
        let isConverted: Bool
    }

    /// The frame, or what it was converted to.
    func form(of frame: consuming VideoFrame) throws(EncodingError) -> Form {
        guard let reason = reason(against: frame) else { return Form(frame: frame, isConverted: false) }
        let from = "\(frame.pixelFormat.rawValue) \(frame.visible.size)"
        let converted: VideoFrame
        do throws(PixelConversionError) {
            converted = try converter.convert(frame)
        } catch {
            throw EncodingError(.unsupportedPixelFormat, "the encoder cannot be given the frame: \(error.description)")
        }
        let seconds = converter.secondsSpent
        note(from, reason) { $0.secondsPerFrame = seconds / Double($0.frames) }
        return Form(frame: converted, isConverted: true)
    }

    private func note(_ from: String, _ reason: String, _ change: (inout ConversionReport) -> Void) {
        report.withLock { report in
            var sum =
                report
                ?? ConversionReport(
                    from: from, to: "\(format.rawValue) \(size)", why: reason,
                    bytesPerFrame: format.byteCount(width: size.width, height: size.height))
            sum.frames += 1
            change(&sum)
            report = sum
        }
    }

    /// Gives the encoder a frame.
    func lend(_ form: consuming Form, to encoder: VideoEncoder) throws(EncodingError) {
        let isConverted = form.isConverted, frame = form.frame
        guard let device else {
            guard unsafe Self.lend(frame, to: encoder.frame, as: encoder.context.pointee.pix_fmt.rawValue) else {
                throw EncodingError(.encoder, "no memory for a frame")
            }
            return
        }
        let from = "\(frame.pixelFormat.rawValue) \(frame.visible.size)", start = MonotonicClock.shared.now()
        guard let reason = try unsafe device.lend(frame, to: encoder.frame) else { return }
        let seconds = (MonotonicClock.shared.now() - start).seconds
        // A conversion has been noted already; the copy belongs to it.
        if !isConverted { note(from, reason) { $0.secondsPerFrame += (seconds - $0.secondsPerFrame) / Double($0.frames) } }
    }

    /// Why the encoder cannot read the frame where it lies; nil when it can.
    private func reason(against frame: borrowing VideoFrame) -> String? {
        let layout = frame.surface.layout, facts = layout.format.description
        guard device == nil ? Self.areSameBytes(layout.format, format) : DeviceSurfaces.takes(layout.format, as: format) else {
            let loss = facts.hasColorAndAlpha && !format.description.hasAlpha ? ", without alpha" : ""
            return "the frame is \(layout.format.rawValue), the encoder needs \(format.rawValue)\(loss)"
        }
        guard frame.visible.size == size else { return "the frame is \(frame.visible.size), the encoder needs \(size)" }
        guard device != nil || (layout.modifier == .linear && frame.surface.memoryKind != .va) else {
            return "the CPU cannot read the device's memory in place"
        }
        guard frame.visible.x % (1 << facts.chromaShiftX) == 0, frame.visible.y % (1 << facts.chromaShiftY) == 0
        else { return "the visible part begins between two chroma samples" }
        let own = frame.attributes.color
        let range = facts.impliesFullRange && facts.model == .yuv ? .full : own.range
        if range != color.range, range != .unspecified, color.range != .unspecified { return "the code values have another range" }
        if own.matrix != color.matrix, own.matrix != 2, color.matrix != 2 { return "the code values have another matrix" }
        return nil
    }

    /// Whether two formats differ at most in the range that their names imply.
    static func areSameBytes(_ a: PixelFormat, _ b: PixelFormat) -> Bool { withoutRange(a) == withoutRange(b) }

    private static func withoutRange(_ format: PixelFormat) -> PixelFormat {
        switch format {
        case .yuvj420p: .yuv420p
        case .yuvj422p: .yuv422p
        case .yuvj444p: .yuv444p
        case .yuvj440p: .yuv440p
        case .yuvj411p: .yuv411p
        default: format
        }
    }

    /// Points libavcodec's frame at a surface's planes. The frame's use ends when libavcodec drops its last reference.
    ///
    /// The corresponding C function is `av_buffer_create`. False when there is no memory.
    static func lend(_ frame: consuming VideoFrame, to target: UnsafeMutablePointer<AVFrame>, as number: Int32) -> Bool {
        let visible = frame.visible, layout = frame.surface.layout, surface = frame.surface
        let planes = layout.format.description.planes
        // Begins and ends the CPU's access (DMA_BUF_IOCTL_SYNC); the producer has finished, and the memory stays mapped.
        unsafe surface.withUnsafeBytes { _ in }
        let base = unsafe surface.address(ofPlane: 0) - layout.plane(0).offset
        let holder = unsafe Unmanaged.passRetained(SharedFrame(frame))
        let buffer = unsafe av_buffer_create(
            base.assumingMemoryBound(to: UInt8.self), layout.byteCount,
            { holder, _ in unsafe Unmanaged<SharedFrame>.fromOpaque(holder!).release() }, holder.toOpaque(), AV_BUFFER_FLAG_READONLY)
        guard let buffer = unsafe buffer else {
            unsafe holder.release()
            return false
        }
        unsafe target.pointee.buf.0 = buffer
        for (index, plane) in planes.enumerated() {
            let place = layout.plane(index)
            let start = place.offset + (visible.y >> plane.verticalShift) * place.pitch + plane.rowBytes(width: visible.x)
            unsafe cav_frame_set_plane(target, Int32(index), (base + start).assumingMemoryBound(to: UInt8.self), Int32(place.pitch))
        }
        unsafe cav_frame_use_own_planes(target)
        unsafe target.pointee.format = number
        unsafe target.pointee.width = Int32(visible.width)
        unsafe target.pointee.height = Int32(visible.height)
        return true
    }
}
