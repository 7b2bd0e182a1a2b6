internal import CV4L2
internal import Glibc
internal import Media
internal import SurfacePool

/// A camera that streams: its format, its buffers and the loop that takes frames. Made and used by one thread after the other.
final class CaptureStream {
    let node: CameraNode
    let format: ActiveFormat
    let path: BufferPath
    /// Why the paths before it were not taken.
    let obstacles: [String]
    /// Frames that programs may hold at the same time.
    let frames: Int
    private let buffers: any CaptureQueue
    /// Nil for pixels.
    private let decoder: CameraDecoder?
    private var sequence: SequenceState
    private var times = CaptureTimeState()

    /// One buffer for the driver to fill, the next one behind it, and a full one on its way here.
    static let driverCount = 3
    /// VIDEO_MAX_FRAME: more buffers no driver has.
    private static let mostBuffers = 32
    /// For buffers whose bytes are taken out as soon as they are there: those that come while one is copied or decoded, or processors are short.
    private static let mappedCount = 6

    /// Sets the format and starts the camera.
    ///
    /// - Parameters:
    ///   - number: The first frame's.
    ///   - bell: Rung when a program has let a frame go.
    init(
        _ node: CameraNode, _ request: CaptureRequest, frames: Int, number: UInt64, allocator: any SurfaceAllocator, only: BufferPath?,
        counters: FrameStatistics, bell: EventFD
    ) throws(CaptureError) {
        self.node = node
        self.frames = frames
        sequence = SequenceState(next: number)
        let choice = try Self.choice(request, on: node)
        format = try ActiveFormat(choice, on: node)
        let count = min(format.codec == nil ? frames + Self.driverCount : Self.mappedCount, Self.mostBuffers)
        let hasDMABufs = Self.makesDMABufs(allocator)
        var capabilities: UInt32 = 0, none: UInt32 = 0
        // Frees all buffers, of which there are none: a question.
        guard unsafe cv4l2_request(node.fd, node.planarity, Int32(CV4L2_MMAP), &none, &capabilities) == 0 else {
            throw node.failure("ask the camera for buffers")
        }
        let imports = capabilities == 0 ? nil : Int(capabilities) & CV4L2_SUPPORTS_DMABUF != 0
        var obstacles: [String] = []
        let isCompressed = format.codec != nil
        let paths = BufferPath.candidates(
            hasDMABufs: hasDMABufs, importsDMABufs: imports, isCompressed: isCompressed, isInPieces: format.isInPieces || format.fieldLayout != nil,
            only: only)
        for path in paths {
            do throws(CaptureError) {
                // Before the camera runs: a decoder may be missing.
                let decoder = try Self.decoder(for: format, frames, allocator, counters, node.path)
                buffers = try Self.start(path, node, count, frames, format, allocator, counters, bell)
                self.decoder = decoder
                self.path = path
                self.obstacles = obstacles
                return
            } catch {
                // Another program streams, or the camera is gone: no other path helps.
                if error.code == .busy || error.code == .unplugged { throw error }
                obstacles.append(error.description)
            }
        }
        throw CaptureError(.failed, obstacles.last ?? "\(node.path): the camera has no buffers that can be used.")
    }

    /// What fits a request, by what the camera lists; does not disturb its stream.
    static func choice(_ request: CaptureRequest, on node: CameraNode) throws(CaptureError) -> CaptureRequest.Choice {
        let offered = node.formats(sizesOf: request.code)
        let choice = request.choose(from: offered, present: node.size, hasSignal: cv4l2_has_signal(node.fd) != 0)
        guard let choice else { throw refusal(request, offered, node.path) }
        return choice
    }

    private static func decoder(
        for format: ActiveFormat, _ frames: Int, _ allocator: any SurfaceAllocator, _ counters: FrameStatistics, _ path: String
    ) throws(CaptureError) -> CameraDecoder? {
        guard let codec = format.codec else { return nil }
        return try CameraDecoder(format, codec, frames: frames, allocator: allocator, counters: counters, path)
    }

    private static func start(
        _ path: BufferPath, _ node: CameraNode, _ wanted: Int, _ frames: Int, _ format: ActiveFormat, _ allocator: any SurfaceAllocator,
        _ counters: FrameStatistics, _ bell: EventFD
    ) throws(CaptureError) -> any CaptureQueue {
        let memory = path == .imported ? CV4L2_DMABUF : CV4L2_MMAP
        var count = UInt32(path == .copied ? mappedCount : wanted)
        guard unsafe cv4l2_request(node.fd, node.planarity, Int32(memory), &count, nil) == 0 else {
            throw node.failure("ask the camera for buffers")
        }
        do throws(CaptureError) {
            guard count >= 2 else { throw CaptureError(.failed, "\(node.path): the driver gives \(count) buffers.") }
            let buffers: any CaptureQueue
            switch path {
            case .imported, .exported:
                let allocator: any SurfaceAllocator = path == .imported ? allocator : ExportingAllocator(node)
                buffers = LentBuffers(node, memory: memory, count: Int(count), layout: format.layout, allocator: allocator) { bell.signal() }
            case .copied where format.fieldLayout != nil:
                buffers = try FieldWeaver(
                    node, count: Int(count), frames: frames + 1, format: format, fieldLayout: format.fieldLayout ?? format.layout,
                    allocator: allocator, counters: counters)
            case .copied:
                buffers = try CopiedBuffers(
                    node, count: Int(count), frames: frames + 1, format: format, allocator: allocator, counters: counters)
            case .decoded: buffers = try CompressedBuffers(node, count: Int(count))
            }
            do throws(CaptureError) {
                try buffers.fill()
                guard cv4l2_stream(node.fd, node.planarity, 1) == 0 else { throw node.failure("start the camera") }
                return buffers
            } catch {
                buffers.end()
                throw error
            }
        } catch {
            release(node, memory)
            throw error
        }
    }

    /// Stops the camera and gives its buffers back to the driver.
    private static func release(_ node: CameraNode, _ memory: Int) {
        _ = cv4l2_stream(node.fd, node.planarity, 0)
        var none: UInt32 = 0
        _ = unsafe cv4l2_request(node.fd, node.planarity, Int32(memory), &none, nil)
    }

    private static func makesDMABufs(_ allocator: any SurfaceAllocator) -> Bool {
        let small = SurfaceLayout(format: .nv12, covering: PixelSize(width: 16, height: 16))
        let pool = SurfacePool(layout: small, allocator: allocator, maximumCount: 1)
        return (try? pool.acquire()?.surface.isDMABuf) ?? false
    }

    /// Says what the camera has instead.
    private static func refusal(_ request: CaptureRequest, _ offered: [CaptureFormat], _ path: String) -> CaptureError {
        let readable = offered.filter(\.isReadable)
        guard !readable.isEmpty else {
            let codes = offered.map { "\($0.code)" }.joined(separator: ", ")
            return CaptureError(.unsupported, "\(path): the camera has no format that is read\(codes.isEmpty ? "" : ", only \(codes)").")
        }
        let wanted = [request.code.map { "\($0)" }, request.size.map { "\($0)" }].compactMap(\.self).joined(separator: " ")
        if let code = request.code, let format = readable.first(where: { $0.code == code }) {
            return CaptureError(.unsupported, "\(path): the camera has no \(wanted); it has \(format.summary).")
        }
        let codes = readable.map { "\($0.code)" }.joined(separator: ", ")
        return CaptureError(.unsupported, "\(path): the camera has no \(wanted); its formats are \(codes).")
    }

    /// Follows another stream: counts on from it, and time runs on. Before the first frame is taken.
    func follow(_ other: CaptureStream) {
        sequence = SequenceState(next: other.nextNumber)
        times = CaptureTimeState(after: other.times.last)
    }

    /// The number of the frame that comes next.
    var nextNumber: UInt64 { sequence.next }

    /// Something that came of a wait.
    enum Outcome {
        case frame(SharedFrame, SequenceState.Receipt, HostTime)
        /// No frame, for this reason; its own number.
        case lost(CaptureDrop.Reason, SequenceState.Receipt, HostTime)
        /// Look whether to stop.
        case nothing
    }

    /// 1 s: how often a camera is looked at whose buffers are all held.
    private static let patience = HostSpan.seconds(1)

    /// Waits for a frame, for the bell, or for a second.
    func wait(_ bell: EventFD) throws(CaptureError) -> Outcome {
        if let outcome = decoder?.take() { return outcome }
        try buffers.fill()
        sequence.queued(buffers.queuedCount)
        // A driver without buffers reports an error at once.
        let isFed = buffers.queuedCount > 0
        var descriptors = [
            PollDescriptor(fd: isFed ? node.fd : -1, interest: .readable), PollDescriptor(fd: bell.rawValue, interest: .readable),
        ]
        let ready: Int
        do throws(SystemError) {
            // The driver's frames first, then those that wait for the decoder.
            let patience = decoder?.canStep == true ? .zero : Self.patience
            ready = try pollDescriptors(&descriptors, until: MonotonicClock.shared.now() + patience)
        } catch { throw CaptureError(.system, "\(node.path): \(error).") }
        if !descriptors[1].ready.isEmpty { bell.drain() }
        guard !descriptors[0].ready.isEmpty else {
            if let decoder, decoder.canStep {
                decoder.step()
            } else if ready == 0 {
                try look()
            }
            return .nothing
        }
        var buffer = cv4l2_buffer()
        guard unsafe cv4l2_dequeue(node.fd, node.planarity, buffers.memory, &buffer) == 0 else {
            if errno == EAGAIN { return .nothing }
            throw node.failure("take a frame from the camera")
        }
        return try take(buffer)
    }

    /// Throws when the camera is gone.
    private func look() throws(CaptureError) {
        var identity = cv4l2_identity()
        guard unsafe cv4l2_query(node.fd, &identity) == 0 else { throw node.failure("ask the camera") }
    }

    private func take(_ buffer: cv4l2_buffer) throws(CaptureError) -> Outcome {
        let isMonotonic = Int(buffer.flags) & CV4L2_CLOCK_MASK == CV4L2_CLOCK_MONOTONIC
        let time = times.time(stamp: buffer.time, isMonotonic: isMonotonic, arrival: MonotonicClock.shared.now())
        let isDamaged = Int(buffer.flags) & CV4L2_BUFFER_ERROR != 0 || cv4l2_piece_at(buffer, 0).used == 0
        if let fields = buffers as? FieldWeaver { return try take(buffer, of: fields, isDamaged, at: time) }
        let receipt = sequence.receive(buffer.sequence, at: time)
        guard !isDamaged, let whole = buffers as? any CaptureBuffers else {
            try buffers.discard(buffer)
            return lost(.damaged, receipt, time)
        }
        switch try whole.take(buffer) {
        case nil: return lost(.outOfBuffers, receipt, time)
        case .compressed(let block):
            decoder?.add(block, receipt, at: time)
            return .nothing
        case .pixels(let use):
            sequence.queued(buffers.queuedCount)
            return .frame(frame(use, field(of: buffer), receipt, time), receipt, time)
        }
    }

    private func frame(_ use: consuming SurfaceUse, _ field: CaptureField, _ receipt: SequenceState.Receipt, _ time: HostTime) -> SharedFrame {
        SharedFrame(
            VideoFrame(
                use: use, visible: PixelRect(format.size), attributes: FrameAttributes(pixelAspect: format.pixelAspect, color: format.color),
                presentationTime: MediaTime(nanoseconds: time.nanoseconds), duration: format.frameDuration, flags: field.flags,
                sequence: receipt.number))
    }

    /// A field that came by itself.
    private func take(_ buffer: cv4l2_buffer, of fields: FieldWeaver, _ isDamaged: Bool, at time: HostTime) throws(CaptureError) -> Outcome {
        let outcome = try fields.take(buffer, isDamaged: isDamaged, at: time) { sequence.receive($0, at: time) }
        switch consume outcome {
        case .nothing: return .nothing
        case .lost(let reason, let found): return .lost(reason, found.receipt, found.time)
        case .frame(let use, let found):
            return .frame(frame(use, .interlaced(topFirst: found.isTopFirst), found.receipt, found.time), found.receipt, found.time)
        }
    }

    /// The fields of one frame; those of all frames where the driver says nothing of this one.
    private func field(of buffer: cv4l2_buffer) -> CaptureField {
        Int(buffer.field) == CV4L2_FIELD_ANY ? format.field : CaptureField(buffer.field, has525Lines: format.has525Lines)
    }

    /// Behind the frames that a decoder has not answered, in the camera's order.
    private func lost(_ reason: CaptureDrop.Reason, _ receipt: SequenceState.Receipt, _ time: HostTime) -> Outcome {
        guard let decoder else { return .lost(reason, receipt, time) }
        decoder.lose(reason, receipt, at: time)
        return .nothing
    }

    /// After the end: what a decoder has not answered, one after the other, and the frame that lacks a field.
    func takeRest() -> Outcome? {
        if let (reason, frame) = (buffers as? FieldWeaver)?.takeRest() { return .lost(reason, frame.receipt, frame.time) }
        return decoder?.take()
    }

    /// Stops the camera. Frames that programs hold stay as they are.
    func end() {
        _ = cv4l2_stream(node.fd, node.planarity, 0)
        buffers.end()
        decoder?.end()
        var none: UInt32 = 0
        _ = unsafe cv4l2_request(node.fd, node.planarity, buffers.memory, &none, nil)
    }
}
