internal import CV4L2
internal import Glibc
internal import Media
internal import SampleQueue
internal import SurfacePool

/// What a full buffer holds.
enum CaptureContent: ~Copyable {
    /// A frame's pixels.
    case pixels(SurfaceUse)
    /// A frame for a decoder.
    case compressed(BlockBuffer)
}

/// The buffers between a camera's driver and the surfaces that programs read. Used by one thread.
protocol CaptureQueue: AnyObject {
    var memory: Int32 { get }
    /// Buffers that the driver may write to.
    var queuedCount: Int { get }
    /// Gives the driver every buffer that nobody reads.
    func fill() throws(CaptureError)
    /// Takes back a buffer whose contents nobody wants.
    func discard(_ buffer: cv4l2_buffer) throws(CaptureError)
    /// The driver has stopped: ends what it held. Frames that are read stay.
    func end()
}

/// Buffers that hold a frame each.
protocol CaptureBuffers: CaptureQueue {
    /// Takes a full buffer's frame; nil when there is no memory to copy it to.
    func take(_ buffer: cv4l2_buffer) throws(CaptureError) -> CaptureContent?
}

/// Surfaces that the driver writes itself: those of a pool that it imports, or its own that the pool exports.
final class LentBuffers: CaptureBuffers {
    private let node: CameraNode
    let memory: Int32
    private let count: Int
    private let pool: SurfacePool
    private let allocator: any SurfaceAllocator
    /// The surfaces that the driver may write to, by the driver's number of the buffer.
    private var queued: [Surface?]
    /// The driver's number of each surface. It keeps a surface's mapping under its number.
    private var numbers: [SurfaceIdentity: Int] = [:]
    private(set) var queuedCount = 0

    /// Takes over buffers that have been requested.
    /// - Parameter onFree: Called on any thread when a program has let a frame go that the driver lacks.
    init(
        _ node: CameraNode, memory: Int, count: Int, layout: SurfaceLayout, allocator: any SurfaceAllocator, onFree: @escaping @Sendable () -> Void
    ) {
        self.node = node
        self.memory = Int32(memory)
        self.count = count
        self.allocator = allocator
        queued = Array(repeating: nil, count: count)
        pool = SurfacePool(layout: layout, allocator: allocator, minimumCount: count, maximumCount: count)
        pool.whenFree(onFree)
    }

    func fill() throws(CaptureError) {
        while let surface = try acquire() {
            let number = numbers[surface.identity] ?? numbers.count
            guard number < count, surface.isDMABuf else {
                surface.endWriting()
                throw CaptureError(.unsupported, "\(node.path): the surfaces are no DMA-BUFs that stay.")
            }
            let bytes = UInt32(clamping: surface.layout.byteCount)
            guard cv4l2_queue(node.fd, node.planarity, memory, UInt32(number), surface.fd, bytes) == 0 else {
                let error = node.failure("give the camera a buffer")
                surface.endWriting()
                throw error
            }
            numbers[surface.identity] = number
            queued[number] = surface
            queuedCount += 1
        }
    }

    private func acquire() throws(CaptureError) -> Surface? {
        do throws(SurfaceError) {
            guard let writer = try pool.acquire() else { return nil }
            return writer.detach()
        } catch {
            throw CaptureError(error.code == .noMemory ? .system : .failed, "\(node.path): \(error.description)")
        }
    }

    private func unqueue(_ buffer: cv4l2_buffer) throws(CaptureError) -> Surface {
        guard Int(buffer.index) < count, let surface = queued[Int(buffer.index)] else {
            throw CaptureError(.failed, "\(node.path): the driver returned a buffer that it did not have.")
        }
        queued[Int(buffer.index)] = nil
        queuedCount -= 1
        return surface
    }

    func take(_ buffer: cv4l2_buffer) throws(CaptureError) -> CaptureContent? { .pixels(try unqueue(buffer).finishWriting()) }

    func discard(_ buffer: cv4l2_buffer) throws(CaptureError) { try unqueue(buffer).endWriting() }

    func end() {
        for surface in queued { surface?.endWriting() }
        queued = Array(repeating: nil, count: count)
        queuedCount = 0
        pool.close()
        (allocator as? ExportingAllocator)?.end()
    }
}

/// Hands the driver's own buffers out as DMA-BUFs, one after the other (`VIDIOC_EXPBUF`).
final class ExportingAllocator: SurfaceAllocator {
    let name = "v4l2"
    private let state: Monitor<(node: CameraNode?, next: UInt32)>

    init(_ node: CameraNode) { state = Monitor((node, 0)) }

    /// Lets go of the device. Frames that displays hold need it no more, and a camera that is unplugged keeps its number for as long as it is open.
    func end() { state.withLock { $0.node = nil } }

    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        let (node, index) = state.withLock { $0 }
        guard let node else { throw SurfaceError(.unavailable, "the camera has stopped") }
        let fd = cv4l2_export(node.fd, node.planarity, index)
        guard fd >= 0 else { throw SurfaceError(.unavailable, "\(SystemError(errno, "export the camera's buffer"))", status: errno) }
        let memory = try SurfaceMemory(dmabuf: OwnedFD(adopting: fd))
        state.withLock { $0.next = index + 1 }
        return memory
    }
}
