internal import CV4L2
internal import Glibc
internal import Media
package import SurfacePool

/// Puts together the frames whose fields a driver gives one by one: copies the rows of each out of the driver's memory to every second row of a
/// surface. Used by one thread.
@safe
final class FieldWeaver: CaptureQueue {
    /// What comes of a field.
    enum Outcome: ~Copyable {
        /// A frame of two fields.
        case frame(SurfaceUse, FieldPairState.Frame)
        case lost(CaptureDrop.Reason, FieldPairState.Frame)
        /// The other field is still to come.
        case nothing
    }

    let memory = MappedBuffers.memory
    private let path: String
    private let mapped: MappedBuffers
    private let pool: SurfacePool
    private let counters: FrameStatistics
    private let fieldLayout: SurfaceLayout
    private var state = FieldPairState()
    /// Of the frame whose first field has come.
    private var surface: Surface?

    init(
        _ node: CameraNode, count: Int, frames: Int, format: ActiveFormat, fieldLayout: SurfaceLayout, allocator: any SurfaceAllocator,
        counters: FrameStatistics
    ) throws(CaptureError) {
        path = node.path
        self.counters = counters
        self.fieldLayout = fieldLayout
        mapped = try MappedBuffers(node, count: count)
        pool = SurfacePool(layout: format.layout, allocator: allocator, maximumCount: frames)
    }

    var queuedCount: Int { mapped.queuedCount }

    func fill() throws(CaptureError) { try mapped.fill() }

    /// Takes a field.
    /// - Parameter count: Counts a frame of this number of the driver's.
    func take(
        _ buffer: cv4l2_buffer, isDamaged: Bool, at time: HostTime, count: (UInt32) -> SequenceState.Receipt
    ) throws(CaptureError) -> Outcome {
        try mapped.discard(buffer)
        let isTop = Int(buffer.field) != CV4L2_FIELD_BOTTOM
        switch state.take(buffer.sequence, isTop: isTop, at: time, count: count) {
        case .begins(let abandoned):
            surface.take()?.endWriting()
            if isDamaged { state.spoil(.damaged) } else { try begin(buffer, isTop) }
            return Self.lost(abandoned)
        case .completes(let frame):
            guard let surface = surface.take() else { return Self.lost(frame) }
            guard !isDamaged else {
                surface.endWriting()
                return .lost(.damaged, frame)
            }
            copy(buffer, isTop, to: surface)
            return .frame(surface.finishWriting(), frame)
        }
    }

    private func begin(_ buffer: cv4l2_buffer, _ isTop: Bool) throws(CaptureError) {
        do throws(SurfaceError) { surface = try pool.acquire()?.detach() } catch {
            throw CaptureError(.system, "\(path): \(error.description)")
        }
        if let surface { copy(buffer, isTop, to: surface) } else { state.spoil(.outOfBuffers) }
    }

    private static func lost(_ frame: FieldPairState.Frame?) -> Outcome {
        if let frame { .lost(frame.loss ?? .damaged, frame) } else { .nothing }
    }

    private func copy(_ buffer: cv4l2_buffer, _ isTop: Bool, to surface: Surface) {
        unsafe mapped.withBytes(of: buffer) { source in
            let target = unsafe UnsafeMutableRawBufferPointer(start: surface.base, count: surface.layout.byteCount)
            counters.addCopied(unsafe FieldRows.copy(source, fieldLayout, to: target, surface.layout, isTop: isTop))
        }
    }

    func discard(_ buffer: cv4l2_buffer) throws(CaptureError) { try mapped.discard(buffer) }

    /// After the end: the frame that waits for its second field.
    func takeRest() -> (reason: CaptureDrop.Reason, frame: FieldPairState.Frame)? { state.finish().map { ($0.loss ?? .damaged, $0) } }

    func end() {
        surface.take()?.endWriting()
        pool.close()
    }
}

/// The rows of a field in a frame.
package enum FieldRows {
    /// Copies the rows of a field to every second row of each plane of a frame: of the upper field to the first, third and so on. Rows that the
    /// source or the target lacks are left out.
    /// - Returns: Bytes copied.
    package static func copy(
        _ source: UnsafeRawBufferPointer, _ field: SurfaceLayout, to target: UnsafeMutableRawBufferPointer, _ frame: SurfaceLayout, isTop: Bool
    ) -> Int {
        var copied = 0
        for number in 0..<frame.planeCount {
            let fact = frame.format.description.planes[number], width = fact.rowBytes(width: frame.size.width)
            let from = field.plane(number), to = frame.plane(number)
            for row in 0..<fact.rows(height: field.size.height) {
                let start = from.offset + row * from.pitch, end = to.offset + (2 * row + (isTop ? 0 : 1)) * to.pitch
                guard start + width <= source.count, end + width <= target.count else { break }
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: source[start..<start + width])
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[end..<end + width]).copyMemory(from: bytes)
                copied += width
            }
        }
        return copied
    }
}
