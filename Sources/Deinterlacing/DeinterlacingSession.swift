internal import CDeinterlace
internal import Media
internal import PixelConversion
public import SurfacePool

/// Which frames are deinterlaced.
public enum Deinterlacing: String, Sendable, Hashable, CaseIterable {
    /// None.
    case no
    /// Those that the stream marks as interlaced.
    case auto
    /// All, whatever the stream says.
    case yes
}

/// Makes a frame of each field of interlaced frames, with libavfilter's bwdif: 50 frames a second of 25 interlaced ones.
///
/// bwdif looks at the frames before and after, so a frame comes out when the next one has gone in. What is progressive passes as it is, without a
/// copy and, until the first interlaced frame has come, without delay.
///
/// Thread-safety: one thread at a time.
@safe
public final class DeinterlacingSession {
    /// Which frames are deinterlaced; a change takes effect with the next frame.
    public var mode: Deinterlacing
    /// Why frames that should be deinterlaced are not, in one sentence; nil: they are.
    public private(set) var failure: String?
    /// Frames made of fields so far.
    public private(set) var framesMade = 0

    private let allocator: any SurfaceAllocator
    private let holdCount: Int
    private let statistics: FrameStatistics
    private var filter: OpaquePointer?
    private var kind: Kind?
    /// Frames that are in the filter, by their numbers.
    private var inside: [Int64: SharedFrame] = [:]
    private var sent: Int64 = 0
    private var pool: SurfacePool?
    /// For frames that the CPU cannot read in place.
    private var copier: PixelTransferSession?
    /// The last sequence number given out.
    private var sequence: UInt64 = 0

    /// 4: bwdif looks at the frame before and the one after, and hands one out.
    private static let mostInside = 4

    /// What a filter is made for.
    private struct Kind: Hashable {
        var format: PixelFormat
        var size: PixelSize
        var mode: Deinterlacing
    }

    /// Makes a session; libavfilter is loaded with the first frame that needs it.
    ///
    /// - Parameters:
    ///   - allocator: Where the memory of frames comes from.
    ///   - holdCount: Frames that consumers may hold at once.
    ///   - statistics: Whose `bytesCopied` grows by every frame that is made.
    public init(
        _ mode: Deinterlacing = .auto, allocator: any SurfaceAllocator = MemfdAllocator(), holdCount: Int = 4,
        statistics: FrameStatistics = FrameStatistics()
    ) {
        self.mode = mode
        self.allocator = allocator
        self.holdCount = holdCount
        self.statistics = statistics
        unsafe filter = nil
    }

    deinit { unsafe cd_close(filter) }

    /// Takes a frame and hands out those that are ready, in the order of their times.
    public func pass(_ frame: consuming VideoFrame, _ output: (consuming VideoFrame) -> Void) {
        let wanted = Kind(format: frame.pixelFormat, size: frame.visible.size, mode: mode)
        if kind != nil, kind != wanted { finish(output) }
        let isDue = mode == .yes || (mode == .auto && frame.flags.contains(.interlaced))
        guard kind != nil || (isDue && open(wanted)) else {
            sequence = max(sequence, frame.sequence)
            return output(frame)
        }
        send(SharedFrame(frame))
        receive(output)
    }

    /// Hands out the frames that still wait for a next one: at the end, or before frames of another kind.
    public func finish(_ output: (consuming VideoFrame) -> Void) {
        guard unsafe filter != nil else { return }
        _ = unsafe cd_send(filter, nil)
        receive(output)
        for (_, frame) in inside.sorted(by: { $0.key < $1.key }) { output(frame.copy()) }
        flush()
    }

    /// Forgets the frames that wait for a next one.
    public func flush() {
        unsafe cd_close(filter)
        unsafe filter = nil
        (kind, inside, sent) = (nil, [:], 0)
    }

    private func open(_ wanted: Kind) -> Bool {
        guard failure == nil else { return false }
        let number = PixelFormatTable.shared.number(of: wanted.format)
        let reason = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 320) { text -> String? in
            unsafe filter = cd_open(
                Int32(wanted.size.width), Int32(wanted.size.height), number, wanted.mode == .yes ? 1 : 0, text.baseAddress, text.count)
            return unsafe filter == nil ? String(cString: text.baseAddress!) : nil
        }
        guard let reason else {
            kind = wanted
            return true
        }
        failure = "The film is not deinterlaced: \(reason)."
        return false
    }

    // MARK: In

    private func send(_ shared: SharedFrame) {
        let frame = shared.copy(), surface = frame.surface, layout = surface.layout, visible = frame.visible
        // Frames that the CPU cannot read in place are copied for the filter.
        guard surface.isReadInPlace else {
            if copier?.target.format != frame.pixelFormat {
                let target = ConversionTarget(format: frame.pixelFormat)
                copier = PixelTransferSession(to: target, holdCount: holdCount + Self.mostInside, waitsForSurface: false, statistics: statistics)
            }
            guard let copied = try? copier.map({ try SharedFrame($0.convert(frame)) }) else { return }
            return send(copied)
        }
        let owner = unsafe Unmanaged.passRetained(shared)
        guard
            let lent = unsafe cd_borrow(
                surface.base, layout.byteCount, owner.toOpaque(),
                { owner, _ in unsafe Unmanaged<SharedFrame>.fromOpaque(owner!).release() })
        else { return unsafe owner.release() }
        for index in 0..<layout.planeCount {
            unsafe cd_set_plane(lent, Int32(index), Self.address(of: frame, plane: index), Int32(layout.plane(index).pitch))
        }
        unsafe cd_describe(
            lent, Int32(visible.width), Int32(visible.height), PixelFormatTable.shared.number(of: layout.format), 2 * sent,
            frame.flags.contains(.interlaced) ? 1 : 0, frame.flags.contains(.topFieldFirst) ? 1 : 0)
        inside[sent] = shared
        sent += 1
        _ = unsafe cd_send(filter, lent)
        unsafe Self.free(lent)
    }

    // MARK: Out

    private func receive(_ output: (consuming VideoFrame) -> Void) {
        guard let made = unsafe av_frame_alloc() else { return }
        while unsafe cd_receive(filter, made) > 0 {
            let pts = unsafe made.pointee.pts
            // Two units a frame that was sent, doubled by bwdif: 4 a frame, and 2 more for its second field.
            let number = pts >> 2, isSecond = pts & 3 != 0
            inside = inside.filter { $0.key >= number }
            guard let original = inside[number] else { continue }
            let source = original.copy()
            if unsafe cd_plane(made, 0) == Self.address(of: source) {
                // It passed as it is.
                inside[number] = nil
                output(renumbered(source))
            } else if let use = unsafe copy(made, source.pixelFormat, source.visible.size) {
                let times = FieldTimes(of: source.presentationTime, duration: source.duration, next: inside[number + 1]?.presentationTime)
                framesMade += 1
                var flags = source.flags.subtracting([.interlaced, .topFieldFirst])
                if isSecond { flags.remove([.sync, .displayImmediately]) }
                sequence += 1
                output(
                    VideoFrame(
                        use: use, visible: PixelRect(source.visible.size), attributes: source.attributes,
                        presentationTime: isSecond ? times.second : times.first,
                        duration: isSecond ? times.secondDuration : times.firstDuration,
                        sourceTimestamp: isSecond ? nil : source.sourceTimestamp, sourceTimeBase: source.sourceTimeBase, flags: flags,
                        sequence: sequence, sampleNumber: isSecond ? nil : source.sampleNumber, attachments: source.attachments))
                if isSecond { inside[number] = nil }
            }
            unsafe av_frame_unref(made)
        }
        unsafe Self.free(made)
    }

    /// A use of a surface that now holds what the filter made; nil when consumers hold all surfaces for longer than a second.
    private func copy(_ made: UnsafePointer<AVFrame>, _ format: PixelFormat, _ size: PixelSize) -> SurfaceUse? {
        let layout = SurfaceLayout(format: format, covering: size)
        let pool = pool ?? SurfacePool(layout: layout, allocator: allocator, maximumCount: holdCount + 1)
        self.pool = pool
        if pool.layout != layout { pool.retire(layout) }
        guard let writer = try? pool.acquire(waitingUntil: MonotonicClock.shared.now() + .milliseconds(1000)) else { return nil }
        let target = writer.surface.layout
        let from = unsafe ImagePlanes(
            planes: (0..<target.planeCount).map { unsafe cd_plane(made, Int32($0)) },
            pitches: (0..<target.planeCount).map { unsafe Int(cd_pitch(made, Int32($0))) })
        let planes = unsafe ImagePlanes(
            planes: (0..<target.planeCount).map { unsafe writer.surface.address(ofPlane: $0) },
            pitches: (0..<target.planeCount).map { target.plane($0).pitch })
        Swscaler.copy(PixelFormatTable.shared.number(of: format), size: size, from: from, to: planes)
        statistics.addCopied(format.byteCount(width: size.width, height: size.height))
        return writer.finish()
    }

    /// A frame that passes as it is, with the next number.
    private func renumbered(_ frame: borrowing VideoFrame) -> VideoFrame {
        sequence += 1
        return frame.moved(to: frame.use.another(), visible: frame.visible, sequence: sequence)
    }

    /// Where a plane's visible part begins.
    private static func address(of frame: borrowing VideoFrame, plane index: Int = 0) -> UnsafeMutableRawPointer {
        let layout = frame.surface.layout, plane = layout.format.description.planes[index], visible = frame.visible
        let offset =
            (visible.y >> plane.verticalShift) * layout.plane(index).pitch + (visible.x >> plane.horizontalShift) * plane.bitsPerSample / 8
        return unsafe frame.surface.address(ofPlane: index) + offset
    }

    private static func free(_ frame: UnsafeMutablePointer<AVFrame>) {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }
}
