internal import CV4L2
internal import Glibc
internal import Media
internal import SampleQueue
internal import SurfacePool

/// The driver's own buffers, mapped to be read. The driver has each of them again as soon as its bytes have been read. Used by one thread.
@safe
final class MappedBuffers {
    private let node: CameraNode
    /// Of each buffer, its pieces.
    private var maps: [[UnsafeMutableRawBufferPointer]] = unsafe []
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
            unsafe maps.append([])
            for number in 0..<UInt32(CV4L2_PLANES) {
                let piece = cv4l2_piece_at(buffer, number), length = Int(piece.length)
                guard length > 0 else { break }
                let address = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, node.fd, off_t(piece.map_offset))
                guard let address = unsafe address, unsafe address != MAP_FAILED else { throw node.failure("map the camera's buffer") }
                unsafe maps[Int(index)].append(UnsafeMutableRawBufferPointer(start: address, count: length))
            }
        }
    }

    deinit { unsafe maps.joined().forEach { unsafe munmap($0.baseAddress, $0.count) } }

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

    /// Reads what the driver wrote into a buffer that has been discarded and not queued again; empty where it has no such piece.
    func withBytes<R>(of buffer: cv4l2_buffer, piece number: Int = 0, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let piece = cv4l2_piece_at(buffer, UInt32(number))
        guard unsafe number < maps[Int(buffer.index)].count else { return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let map = unsafe maps[Int(buffer.index)][number], end = min(Int(piece.used), map.count)
        return unsafe body(UnsafeRawBufferPointer(rebasing: map[min(Int(piece.offset), end)..<end]))
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
    /// Where the driver's pieces of memory go to in a surface.
    private let places: [Range<Int>]

    init(_ node: CameraNode, count: Int, frames: Int, format: ActiveFormat, allocator: any SurfaceAllocator, counters: FrameStatistics)
        throws(CaptureError)
    {
        let layout = format.layout
        places =
            format.isInPieces
            ? (0..<layout.planeCount).map { number in
                let start = layout.plane(number).offset, next = number + 1
                return start..<(next < layout.planeCount ? layout.plane(next).offset : layout.byteCount)
            } : [0..<layout.byteCount]
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
            for (number, place) in places.enumerated() {
                unsafe mapped.withBytes(of: buffer, piece: number) { source in
                    let target = place.clamped(to: 0..<bytes.count), count = min(target.count, source.count)
                    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[target])
                    unsafe part.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
                    counters.addCopied(count)
                }
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
