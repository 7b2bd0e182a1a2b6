internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Makes `wl_buffer`s for frames: of the frame's own memory if the compositor accepts it, otherwise of a converted copy.
///
///     DMA-BUF, format and modifier offered ──► linux-dmabuf       (no copy)
///     memfd, format offered                ──► wl_shm on the memfd (no copy)
///     anything else                        ──► one conversion to RGB in a memfd ──► wl_shm on that
///
/// The buffers of a surface are made when it is first shown and destroyed when its memory is gone.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandBuffers {
    private enum Path {
        case dmabuf(UInt32)
        case shm(UInt32)
        case convert
        /// With light mapped to standard dynamic range.
        case map
    }

    /// What the choice of a path depends on.
    private struct Key: Hashable {
        var layout: SurfaceLayout
        var memory: SurfaceMemory.Kind
        /// With every property resolved.
        var color: ColorDescription
        /// What the compositor would be told of them.
        var described: WaylandFormats.ImageDescription?
    }

    /// The objects made for one surface.
    @safe
    private final class Import {
        var buffers: [WaylandBuffer] = []

        /// Surfaces that the compositor still holds stay in use until the buffers are deallocated.
        func destroy() { for buffer in buffers { buffer.destroy() } }
    }

    private let connection: WaylandConnection
    /// Frames up to this many pixels are converted for exact colors: 1920 × 1080 plus a decoder's padding, which takes the CPU a few milliseconds.
    /// At 3840 × 2160 the conversion would cost frames.
    private static let affordable = 2048 * 1152

    private let exactColors: Bool?
    /// To blue, green, red, unused (`WL_SHM_FORMAT_XRGB8888`), which every compositor takes.
    /// Four surfaces: on the screen, committed for the next refresh, being released, and being written.
    private let converter = WaylandBuffers.converter(nil)
    /// For films in high dynamic range; nil: none are mapped.
    private let mapper: PixelTransferSession?
    private let balancer: DisplayBalancer
    /// How brightness and colours are changed.
    var balance: ColorBalance {
        get { balancer.balance }
        set { balancer.balance = newValue }
    }
    private var cache = SurfaceCache<Import>()
    private var paths: [Key: Path] = [:]
    private var pathConversion: ConversionReport?
    /// The conversion in use, and why.
    var conversion: ConversionReport? { pathConversion ?? balancer.report }
    var bytesCopied: Int { converter.bytesWritten + (mapper?.bytesWritten ?? 0) + balancer.bytesCopied }

    /// - Parameters:
    ///   - exactColors: Convert frames whose matrix the compositor cannot be told; nil: only where that is cheap.
    ///   - toneMapping: For films in high dynamic range that the compositor cannot be told of; nil: they are shown as they are.
    ///   - allocator: Of the memory for frames whose colours are changed.
    init(_ connection: WaylandConnection, exactColors: Bool?, toneMapping: ToneMapping?, allocator: any SurfaceAllocator) {
        balancer = DisplayBalancer(allocator: allocator, holdCount: 3) { [unowned connection] in connection.report?($0) }
        mapper = toneMapping.map { Self.converter($0) }
        self.connection = connection
        self.exactColors = exactColors
    }

    private static func converter(_ toneMapping: ToneMapping?) -> PixelTransferSession {
        var target = ConversionTarget(format: .bgr0, toneMapping: toneMapping)
        // The compositor scales a frame to its window in any case.
        target.mostPixels = ConversionTarget.mostDisplayPixels
        // Six of four bytes a pixel: while the size changes, the compositor holds two of the old one.
        let most = 6 * 4 * ConversionTarget.mostDisplayPixels + (16 << 20)
        return PixelTransferSession(to: target, engine: .fast, holdCount: 3, maximumByteCount: most, waitsForSurface: false)
    }

    /// A buffer that can be attached.
    struct Prepared: ~Copyable {
        var buffer: WaylandBuffer
        /// The right to read its memory, until the compositor has released the buffer.
        var use: SurfaceUse
        /// The size of the buffer.
        var size: PixelSize
        /// The part that is shown.
        var visible: PixelRect
        /// The colors to set on the surface.
        var colors = WaylandFormats.Colors()
    }

    /// A buffer that shows `frame`; nil when none is available now.
    func prepare(_ frame: borrowing VideoFrame) -> Prepared? {
        for (_, made) in cache.takeGone() { made.destroy() }
        guard let balanced = balancer.balanced(frame) else { return nil }
        return prepareBalanced(balanced)
    }

    /// A buffer that shows `frame` with the colours that it has.
    private func prepareBalanced(_ frame: borrowing VideoFrame) -> Prepared? {
        let surface = frame.surface
        let format = surface.layout.format
        let color = frame.attributes.color.resolved(for: format, size: frame.visible.size)
        let imageDescription = WaylandFormats.ImageDescription(color, hdr: frame.attributes.hdr)
        let path = path(for: surface, frame.visible, color, imageDescription)
        do throws(PixelConversionError) {
            switch path {
            case .convert: return prepare(try converter.convert(frame), by: .shm(1), color, imageDescription)
            case .map:
                guard let mapper else { return nil }
                return prepare(try mapper.convert(frame), by: .shm(1), color, nil)
            case .dmabuf, .shm: return prepare(frame, by: path, color, imageDescription)
            }
        } catch {
            return nil
        }
    }

    private func prepare(
        _ frame: borrowing VideoFrame, by path: Path, _ color: ColorDescription, _ imageDescription: WaylandFormats.ImageDescription?
    ) -> Prepared? {
        let surface = frame.surface, format = surface.layout.format
        let size = Self.size(of: surface.layout, showing: frame.visible, path)
        let known = cache[surface.identity]?.buffers.first { !$0.isHeld && $0.size == size }
        guard let buffer = known ?? make(surface, path, size) else { return nil }
        var colors = WaylandFormats.Colors(imageDescription: imageDescription)
        if format.description.model == .yuv, let representation = connection.representation(of: color) {
            colors.representation = representation
            colors.chromaLocation = WaylandFormats.chromaLocation(format, frame.attributes.color.chromaSiting)
        }
        return Prepared(buffer: buffer, use: frame.use.another(), size: size, visible: frame.visible, colors: colors)
    }

    /// Whether the compositor holds any buffer.
    var isAnyHeld: Bool { cache.values.contains { $0.buffers.contains(where: \.isHeld) } }

    /// Makes a new choice for the frames that follow.
    func resetPaths() { paths = [:] }

    /// Ends the uses of buffers whose release points are reached.
    func collect() {
        guard connection.explicitSync != nil else { return }
        for made in cache.values { for buffer in made.buffers { buffer.collect() } }
    }

    /// Destroys every buffer. Surfaces that the compositor still holds stay in use until this object is deallocated.
    func destroy() {
        for made in cache.values { made.destroy() }
    }

    // MARK: Choosing

    private func path(
        for surface: Surface, _ visible: PixelRect, _ color: ColorDescription, _ described: WaylandFormats.ImageDescription?
    ) -> Path {
        let key = Key(layout: surface.layout, memory: surface.memoryKind, color: color, described: described)
        if let known = paths[key] {
            switch known {
            case .convert, .map: break
            case .dmabuf, .shm: pathConversion = nil
            }
            return known
        }
        let path = choose(surface, visible, color, described)
        paths[key] = path
        return path
    }

    private func choose(
        _ surface: Surface, _ visible: PixelRect, _ color: ColorDescription, _ described: WaylandFormats.ImageDescription?
    ) -> Path {
        let layout = surface.layout
        let why: String
        if let mapper, mapper.canConvert(layout.format), let obstacle = lightObstacle(color, described) {
            return convert(layout, to: mapper, because: obstacle, .map)
        }
        let isExact = exactColors ?? (layout.size.width * layout.size.height <= Self.affordable)
        if let code = WaylandFormats.code(layout.format) {
            let wanted = DMABufFormat(format: code, modifier: layout.modifier.rawValue), shmCode = WaylandFormats.shmCode(code)
            let fits = layout.fitsDisplays
            let isTaken = fits && surface.isDMABuf && connection.offer.contains(wanted)
            let isOffered = connection.shmFormats.contains(shmCode), canShare = fits && surface.memfd != nil && layout.isContiguous
            let obstacle = WaylandFormats.colorObstacle(layout.format, color, understood: connection.representations, isExact: isExact)
            if isTaken || (isOffered && canShare), let obstacle {
                why = obstacle
            } else {
                if isTaken, tryDMABuf(surface, code, Self.size(of: layout, showing: visible, .dmabuf(code))) {
                    return direct(.dmabuf(code), "linux-dmabuf", layout)
                }
                if isTaken { connection.report?("the compositor offers \(layout.format.rawValue) as DMA-BUF, but refuses it") }
                if isOffered, canShare { return direct(.shm(shmCode), "wl_shm", layout) }
                why =
                    !fits
                    ? "Wayland counts the bytes of a buffer in 32 bits"
                    : isOffered && !layout.isContiguous
                        ? "wl_shm does not support the planes' offsets" : "the compositor does not take \(layout.format.rawValue)"
            }
        } else {
            why = "Wayland has no format code for \(layout.format.rawValue)"
        }
        return convert(layout, to: converter, because: why, .convert)
    }

    private func convert(_ layout: SurfaceLayout, to converter: PixelTransferSession, because why: String, _ path: Path) -> Path {
        pathConversion = ConversionReport(from: layout.format.rawValue, to: converter.target.format.rawValue, why: why)
        connection.report?("converts \(layout.format.rawValue) to \(converter.target.format.rawValue): \(why)")
        return path
    }

    /// Why the light of a film must be mapped to standard dynamic range; nil when it need not be.
    private func lightObstacle(_ color: ColorDescription, _ described: WaylandFormats.ImageDescription?) -> String? {
        guard ToneMapping.applies(to: color) else { return nil }
        guard let colorManagement = connection.colorManagement else { return "the compositor has no color management, and the film is in HDR" }
        if let described, unsafe colorManagement.description(of: described, connection) != nil { return nil }
        return "the compositor does not know the film's HDR"
    }

    private func direct(_ path: Path, _ name: String, _ layout: SurfaceLayout) -> Path {
        pathConversion = nil
        var words = "shows \(layout.format.rawValue) without a copy, by \(name)"
        if case .dmabuf(let code) = path {
            let kind = DMABufFormat(format: code, modifier: layout.modifier.rawValue)
            if connection.offer.tranches.contains(where: { $0.isScanout && $0.formats.contains(kind) }) { words += ", as the display scans it out" }
            words += connection.explicitSync == nil ? ", with implicit fences" : ", with explicit fences"
        }
        connection.report?(words)
        return path
    }

    // MARK: Making

    /// The size that is announced to the compositor. A linear DMA-BUF is announced without the padding at the right and bottom: when it crops, an
    /// OpenGL renderer would mix in the padding's color, which is green if it was never written.
    private static func size(of layout: SurfaceLayout, showing visible: PixelRect, _ path: Path) -> PixelSize {
        guard layout.modifier == .linear else { return layout.size }
        // `wl_shm` looks for the second plane where the first one ends.
        if case .shm = path, layout.planeCount > 1 { return layout.size }
        let facts = layout.format.description
        func fitted(_ end: Int, _ shift: Int, _ whole: Int) -> Int { min(((end + (1 << shift) - 1) >> shift) << shift, whole) }
        return PixelSize(
            width: fitted(visible.x + visible.width, facts.chromaShiftX, layout.size.width),
            height: fitted(visible.y + visible.height, facts.chromaShiftY, layout.size.height))
    }

    private func make(_ surface: Surface, _ path: Path, _ size: PixelSize) -> WaylandBuffer? {
        let made = made(of: surface)
        // A changing crop needs buffers of other sizes over the same memory. Only those that the compositor holds are kept.
        made.buffers.removeAll { old in
            guard !old.isHeld, old.size != size else { return false }
            old.destroy()
            return true
        }
        let buffer: WaylandBuffer?
        switch path {
        case .convert, .map: buffer = nil
        case .dmabuf(let code):
            // `tryDMABuf` has tested this layout.
            let parameters = unsafe parameters(surface)
            buffer = unsafe zwp_linux_buffer_params_v1_create_immed(
                parameters, Int32(size.width), Int32(size.height), code, 0
            ).map { unsafe WaylandBuffer($0, size: size, timeline: connection.explicitSync.flatMap(BufferTimeline.init)) }
            unsafe zwp_linux_buffer_params_v1_destroy(parameters)
        case .shm(let code):
            buffer = WaylandBuffer.shared(connection, surface, size: size, code: code)
        }
        if let buffer { made.buffers.append(buffer) }
        return buffer
    }

    private func made(of surface: Surface) -> Import {
        if let known = cache[surface.identity] { return known }
        let made = Import()
        cache.insert(made, for: surface)
        return made
    }

    private func parameters(_ surface: Surface) -> OpaquePointer? {
        let parameters = unsafe zwp_linux_dmabuf_v1_create_params(connection.dmabuf)
        let modifier = surface.layout.modifier.rawValue
        for index in 0..<surface.layout.planeCount {
            let plane = surface.layout.plane(index)
            unsafe zwp_linux_buffer_params_v1_add(
                parameters, surface.fd, UInt32(index), UInt32(plane.offset), UInt32(plane.pitch), UInt32(modifier >> 32),
                UInt32(truncatingIfNeeded: modifier))
        }
        return unsafe parameters
    }

    /// Tests whether the compositor can import surfaces like this one. A failed `create_immed` would end the connection.
    private func tryDMABuf(_ surface: Surface, _ code: UInt32, _ size: PixelSize) -> Bool {
        guard let parameters = unsafe parameters(surface) else { return false }
        let answer = DMABufAnswer()
        unsafe listen(parameters, DMABufAnswer.listener, answer)
        unsafe zwp_linux_buffer_params_v1_create(parameters, Int32(size.width), Int32(size.height), code, 0)
        _ = connection.synchronize()
        unsafe zwp_linux_buffer_params_v1_destroy(parameters)
        guard let proxy = unsafe answer.buffer else { return false }
        made(of: surface).buffers.append(unsafe WaylandBuffer(proxy, size: size, timeline: connection.explicitSync.flatMap(BufferTimeline.init)))
        return true
    }
}

/// The compositor's answer to a test import.
@safe
private final class DMABufAnswer {
    var buffer: OpaquePointer?

    nonisolated(unsafe) static let listener = unsafe listenerTable(
        zwp_linux_buffer_params_v1_listener(
            created: { data, _, buffer in unsafe receiver(data, as: DMABufAnswer.self).buffer = unsafe buffer },
            failed: { _, _ in }))
}
