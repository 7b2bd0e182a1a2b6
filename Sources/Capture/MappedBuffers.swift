internal import CV4L2
internal import Glibc
internal import Media
internal import SampleQueue
internal import SurfacePool

/// The driver's own buffers, mapped to be read. The driver has each of them again as soon as its bytes have been read. Used by one thread.
@safe
final class MappedBuffers {
    private let node: CameraNode
    private var maps: [UnsafeMutableRawBufferPointer] = unsafe []
    private var isQueued: [Bool]
    static let memory = Int32(CV4L2_MMAP)

    init(_ node: CameraNode, count: Int) throws(CaptureError) {
        self.node = node
        isQueued = Array(repeating: false, count: count)
        for index in 0..<UInt32(count) {
            var buffer = cv4l2_buffer()
            guard unsafe cv4l2_query_buffer(node.fd, node.planarity, Self.memory, index, &buffer) == 0 else {
                throw node.failure("look at the camera's buffer")
            }
            let address = unsafe mmap(nil, Int(buffer.length), PROT_READ, MAP_SHARED, node.fd, off_t(buffer.map_offset))
            guard let address = unsafe address, unsafe address != MAP_FAILED else { throw node.failure("map the camera's buffer") }
            unsafe maps.append(UnsafeMutableRawBufferPointer(start: address, count: Int(buffer.length)))
        }
    }

    deinit { unsafe maps.forEach { unsafe munmap($0.baseAddress, $0.count) } }

    var queuedCount: Int { isQueued.count(where: \.self) }

    func fill() throws(CaptureError) {
        for index in isQueued.indices where !isQueued[index] {
            guard cv4l2_queue(node.fd, node.planarity, Self.memory, UInt32(index), -1, 0) == 0 else {
                throw node.failure("give the camera a buffer")
            }
            isQueued[index] = true
        }
    }

    func discard(_ buffer: cv4l2_buffer) throws(CaptureError) {
        guard Int(buffer.index) < isQueued.count, isQueued[Int(buffer.index)] else {
            throw CaptureError(.failed, "\(node.path): the driver returned a buffer that it did not have.")
        }
        isQueued[Int(buffer.index)] = false
    }

    /// Reads what the driver wrote into a buffer that has been discarded and not queued again.
    func withBytes<R>(of buffer: cv4l2_buffer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let map = unsafe maps[Int(buffer.index)]
        return unsafe body(UnsafeRawBufferPointer(rebasing: map[..<min(Int(buffer.used), map.count)]))
    }
}

/// The driver's own buffers, each frame copied out of them.
@safe
final class CopiedBuffers: CaptureBuffers {
    private let path: String
    let memory = MappedBuffers.memory
    private let mapped: MappedBuffers
    private let pool: SurfacePool
    private let counters: FrameStatistics

    init(_ node: CameraNode, count: Int, frames: Int, layout: SurfaceLayout, allocator: any SurfaceAllocator, counters: FrameStatistics)
        throws(CaptureError)
    {
        path = node.path
        self.counters = counters
        mapped = try MappedBuffers(node, count: count)
        pool = SurfacePool(layout: layout, allocator: allocator, maximumCount: frames)
    }

    var queuedCount: Int { mapped.queuedCount }

    func fill() throws(CaptureError) { try mapped.fill() }

    func take(_ buffer: cv4l2_buffer) throws(CaptureError) -> CaptureContent? {
        try mapped.discard(buffer)
        let writer: SurfaceWriter
        do throws(SurfaceError) {
            guard let free = try pool.acquire() else { return nil }
            writer = free
        } catch { throw CaptureError(.system, "\(path): \(error.description)") }
        unsafe writer.withUnsafeMutableBytes { bytes in
            unsafe mapped.withBytes(of: buffer) { source in
                let count = min(bytes.count, source.count)
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
                counters.addCopied(count)
            }
        }
        return .pixels(writer.finish())
    }

    func discard(_ buffer: cv4l2_buffer) throws(CaptureError) { try mapped.discard(buffer) }

    func end() { pool.close() }
}

/// The driver's own buffers with compressed frames, whose bytes are taken out for a decoder.
final class CompressedBuffers: CaptureBuffers {
    let memory = MappedBuffers.memory
    private let mapped: MappedBuffers

    init(_ node: CameraNode, count: Int) throws(CaptureError) { mapped = try MappedBuffers(node, count: count) }

    var queuedCount: Int { mapped.queuedCount }

    func fill() throws(CaptureError) { try mapped.fill() }

    func take(_ buffer: cv4l2_buffer) throws(CaptureError) -> CaptureContent? {
        try mapped.discard(buffer)
        return .compressed(unsafe mapped.withBytes(of: buffer) { unsafe BlockBuffer(copying: $0) })
    }

    func discard(_ buffer: cv4l2_buffer) throws(CaptureError) { try mapped.discard(buffer) }

    func end() {}
}
