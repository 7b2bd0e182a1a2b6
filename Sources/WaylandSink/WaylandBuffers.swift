internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Turns pictures into `wl_buffer`s: the memory itself where the compositor takes it, else a conversion.
///
///     DMA-BUF, format and modifier offered ──► linux-dmabuf       (no copy)
///     memfd, format offered                ──► wl_shm on the memfd (no copy)
///     anything else                        ──► one conversion to RGB in a memfd ──► wl_shm on that
///
/// A surface's pool and buffers are made when it is first shown and destroyed when its memory is gone.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandBuffers {
    private enum Way {
        case dmabuf(UInt32)
        case shm(UInt32)
        case convert
    }

    /// What the choice of a way depends on.
    private struct Kind: Hashable {
        var layout: SurfaceLayout
        var memory: SurfaceMemory.Kind
        /// Without gaps.
        var color: ColorDescription
    }

    /// What was made of one surface.
    @safe
    private final class Import {
        var buffers: [WaylandBuffer] = []

        /// What the compositor still holds stays in use until the buffers go.
        func destroy() { for buffer in buffers { buffer.destroy() } }
    }

    private let connection: WaylandConnection
    /// Pixels of a picture that may be converted for its colors alone: those of 1920 × 1080 with a decoder's edges, a few milliseconds of a
    /// processor. A film of four times as many would lose pictures over it.
    private static let affordable = 2048 * 1152

    private let exactColors: Bool?
    /// To blue, green, red, unused (`WL_SHM_FORMAT_XRGB8888`), which every compositor takes.
    /// Four surfaces: on the glass, on its way there, being released, being written.
    private let converter = PixelTransferSession(to: ConversionTarget(format: .bgr0), engine: .fast, holdCount: 3, waitsForSurface: false)
    private var cache = SurfaceCache<Import>()
    private var ways: [Kind: Way] = [:]
    /// What is converted now, and why.
    private(set) var conversion: ConversionReport?
    var bytesCopied: Int { converter.bytesWritten }

    /// - Parameter exactColors: Convert rather than have the compositor guess the matrix; nil: where that costs little.
    init(_ connection: WaylandConnection, exactColors: Bool?) {
        self.connection = connection
        self.exactColors = exactColors
    }

    /// A buffer ready to be attached.
    struct Prepared: ~Copyable {
        var buffer: WaylandBuffer
        /// The right to read its memory, until the compositor has released the buffer.
        var use: SurfaceUse
        /// All of the buffer.
        var size: PixelSize
        /// The part of it to show.
        var visible: PixelRect
        /// What the compositor is to be told of its colors.
        var told = WaylandFormats.Told()
    }

    /// A buffer that shows `frame`; nil when there is none to be had now.
    func prepare(_ frame: borrowing VideoFrame) -> Prepared? {
        for (_, made) in cache.takeGone() { made.destroy() }
        let surface = frame.surface
        let format = surface.layout.format
        let color = frame.attributes.color.resolved(for: format, size: frame.visible.size)
        let way = way(for: surface, frame.visible, color)
        let light = WaylandFormats.Light(color, hdr: frame.attributes.hdr)
        if case .convert = way {
            do throws(PixelConversionError) {
                let converted = try converter.convert(frame)
                return prepare(converted, by: .shm(1), color, light)
            } catch {
                return nil
            }
        }
        return prepare(frame, by: way, color, light)
    }

    private func prepare(_ frame: borrowing VideoFrame, by way: Way, _ color: ColorDescription, _ light: WaylandFormats.Light?) -> Prepared? {
        let surface = frame.surface, format = surface.layout.format
        let size = Self.size(of: surface.layout, showing: frame.visible, way)
        let known = cache[surface.identity]?.buffers.first { !$0.isHeld && $0.size == size }
        guard let buffer = known ?? make(surface, way, size) else { return nil }
        var told = WaylandFormats.Told(light: light)
        if format.description.model == .yuv, let representation = connection.representation(of: color) {
            told.representation = representation
            told.chromaLocation = WaylandFormats.chromaLocation(format, frame.attributes.color.chromaSiting)
        }
        return Prepared(buffer: buffer, use: frame.use.another(), size: size, visible: frame.visible, told: told)
    }

    /// Whether the compositor may be reading a surface.
    var isAnyHeld: Bool { cache.values.contains { $0.buffers.contains(where: \.isHeld) } }

    /// Chooses anew for what is shown from now on.
    func forgetWays() { ways = [:] }

    /// Ends the uses of what the compositor has released by timeline.
    func collect() {
        guard connection.explicitSync != nil else { return }
        for made in cache.values { for buffer in made.buffers { buffer.collect() } }
    }

    /// Destroys every buffer. What the compositor still holds stays in use until this object goes.
    func destroy() {
        for made in cache.values { made.destroy() }
    }

    // MARK: Choosing

    private func way(for surface: Surface, _ visible: PixelRect, _ color: ColorDescription) -> Way {
        let kind = Kind(layout: surface.layout, memory: surface.memoryKind, color: color)
        if let known = ways[kind] {
            if case .convert = known {} else { conversion = nil }
            return known
        }
        let way = choose(surface, visible, color)
        ways[kind] = way
        return way
    }

    private func choose(_ surface: Surface, _ visible: PixelRect, _ color: ColorDescription) -> Way {
        let layout = surface.layout
        let why: String
        let isExact = exactColors ?? (layout.size.width * layout.size.height <= Self.affordable)
        if let code = WaylandFormats.code(layout.format) {
            let wanted = DMABufFormat(format: code, modifier: layout.modifier.rawValue), shmCode = WaylandFormats.shmCode(code)
            let isTaken = surface.isDMABuf && connection.offer.contains(wanted)
            let isOffered = connection.shmFormats.contains(shmCode), canShare = surface.memfd != nil && layout.isContiguous
            let obstacle = WaylandFormats.colorObstacle(layout.format, color, understood: connection.representations, isExact: isExact)
            if isTaken || (isOffered && canShare), let obstacle {
                why = obstacle
            } else {
                if isTaken, tryDMABuf(surface, code, Self.size(of: layout, showing: visible, .dmabuf(code))) {
                    return direct(.dmabuf(code), "linux-dmabuf", layout)
                }
                if isTaken { connection.note?("the compositor offers \(layout.format.rawValue) as DMA-BUF and refuses it") }
                if isOffered, canShare { return direct(.shm(shmCode), "wl_shm", layout) }
                why =
                    isOffered && !layout.isContiguous
                    ? "the planes do not lie where wl_shm looks for them" : "the compositor does not take \(layout.format.rawValue)"
            }
        } else {
            why = "Wayland has no name for \(layout.format.rawValue)"
        }
        conversion = ConversionReport(from: layout.format.rawValue, to: converter.target.format.rawValue, why: why)
        connection.note?("converts \(layout.format.rawValue) to \(converter.target.format.rawValue): \(why)")
        return .convert
    }

    private func direct(_ way: Way, _ name: String, _ layout: SurfaceLayout) -> Way {
        conversion = nil
        var words = "shows \(layout.format.rawValue) without a copy, by \(name)"
        if case .dmabuf(let code) = way {
            let kind = DMABufFormat(format: code, modifier: layout.modifier.rawValue)
            if connection.offer.tranches.contains(where: { $0.isScanout && $0.formats.contains(kind) }) { words += ", as the display scans it out" }
            words += connection.explicitSync == nil ? ", with implicit fences" : ", with explicit fences"
        }
        connection.note?(words)
        return way
    }

    // MARK: Making

    /// What of a surface is told to the compositor: no more than is shown, to the right and below, where the planes' places do not depend on it.
    /// At the edge of a crop OpenGL's filter would mix in the color of what is cropped, which may never have been written: green.
    private static func size(of layout: SurfaceLayout, showing visible: PixelRect, _ way: Way) -> PixelSize {
        guard layout.modifier == .linear else { return layout.size }
        // `wl_shm` looks for the second plane where the first one ends.
        if case .shm = way, layout.planeCount > 1 { return layout.size }
        let facts = layout.format.description
        func fitted(_ end: Int, _ shift: Int, _ whole: Int) -> Int { min(((end + (1 << shift) - 1) >> shift) << shift, whole) }
        return PixelSize(
            width: fitted(visible.x + visible.width, facts.chromaShiftX, layout.size.width),
            height: fitted(visible.y + visible.height, facts.chromaShiftY, layout.size.height))
    }

    private func make(_ surface: Surface, _ way: Way, _ size: PixelSize) -> WaylandBuffer? {
        let made = made(of: surface)
        // A crop that changes asks for other sizes of the same memory: however often it does, only what the compositor reads stays.
        made.buffers.removeAll { old in
            guard !old.isHeld, old.size != size else { return false }
            old.destroy()
            return true
        }
        let buffer: WaylandBuffer?
        switch way {
        case .convert: buffer = nil
        case .dmabuf(let code):
            // Its like has been tried by `tryDMABuf`.
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

    /// Asks whether the compositor can import surfaces like this one; guessing wrong would end the connection.
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

/// The compositor's word on a DMA-BUF.
@safe
private final class DMABufAnswer {
    var buffer: OpaquePointer?

    nonisolated(unsafe) static let listener = unsafe listenerTable(
        zwp_linux_buffer_params_v1_listener(
            created: { data, _, buffer in unsafe receiver(data, as: DMABufAnswer.self).buffer = unsafe buffer },
            failed: { _, _ in }))
}
