internal import CScanout
internal import FrameExport
internal import Media

/// What `scanout_frame *` points to: an exported frame, and whether the CPU has mapped it.
final class FrameHandle: Handle {
    private struct State: ~Copyable, Sendable {
        var frame: ExportedFrame?
        /// The DMA-BUF to which the CPU's access has begun and not ended.
        var mapped: Int32?
    }

    private let state: Monitor<State>
    private let hdr = LentBytes()
    let facts: FrameFacts

    init(_ frame: consuming ExportedFrame) {
        facts = FrameFacts(description: frame.description, fd: frame.fd, isNew: frame.isNew, isCopy: frame.isCopy)
        state = Monitor(State(frame: frame))
    }

    deinit { unmap() }

    /// Hands a frame to the program; NULL for none.
    static func give(_ frame: consuming ExportedFrame?) -> OpaquePointer? {
        switch consume frame {
        case .some(let frame): unsafe give(FrameHandle(frame))
        case .none: nil
        }
    }

    /// The frame's HDR metadata of a kind, `scanout_dynamic_hdr`, lent until the release; nil when it has none.
    func dynamicHDR(_ kind: UInt32) -> UnsafeRawBufferPointer? {
        switch kind {
        case SCANOUT_HDR10_PLUS.rawValue: unsafe facts.description.hdr10Plus.flatMap { unsafe hdr.lend($0, kind) }
        case SCANOUT_DOLBY_VISION.rawValue: unsafe facts.description.dolbyVisionRPU.flatMap { unsafe hdr.lend($0, kind) }
        default: nil
        }
    }

    func acquireFence() -> Int32 {
        let fence: SyncFile? = state.withLock { state in
            switch state.frame {
            case .some(let frame): frame.acquireFence()
            case .none: nil
            }
        }
        switch consume fence {
        case .some(let fence): return fence.take().take()
        case .none: return -1
        }
    }

    /// False when the kernel refuses.
    func setAcquirePoint(_ point: UInt64, of timeline: SyncTimeline) -> Bool {
        state.withLock { state in
            switch state.frame {
            case .some(let frame): (try? frame.setAcquirePoint(point, of: timeline)) != nil
            case .none: false
            }
        }
    }

    /// The bytes, readable until `unmap`; nil when they cannot be mapped.
    func map() -> UnsafeRawPointer? {
        unsafe state.withLock { state -> UnsafeRawPointer? in
            // The pool keeps the memory mapped as long as the frame is held, which is longer than the closure.
            let start: UnsafeRawPointer?? =
                switch state.frame {
                case .some(let frame): unsafe frame.withUnsafeBytes { $0.baseAddress }
                case .none: nil
                }
            guard let start = unsafe start, let start = unsafe start else { return nil }
            if facts.description.isDMABuf, state.mapped == nil {
                guard (try? DMABuf.beginCPUAccess(facts.fd, .read)) != nil else { return nil }
                state.mapped = facts.fd
            }
            return unsafe start
        }
    }

    func unmap() {
        state.withLock { state in
            if let fd = state.mapped.take() { try? DMABuf.endCPUAccess(fd, .read) }
        }
    }

    /// Lends the frame; nil when it has been taken.
    func withFrame<R, E: Error>(_ body: (borrowing ExportedFrame) throws(E) -> sending R) throws(E) -> sending R? {
        try state.withLock { state throws(E) -> sending R? in
            switch state.frame {
            case .some(let frame): try body(frame)
            case .none: nil
            }
        }
    }

    /// Takes the frame out, once, so that the caller releases it in its own way.
    func takeFrame() -> ExportedFrame? {
        unmap()
        return state.withLock { $0.frame.take() }
    }

    func release(after fence: consuming SyncFile) {
        switch takeFrame() {
        case .some(let frame): frame.release(after: fence)
        case .none: break
        }
    }
}

/// Properties of a frame that can be read without holding it.
struct FrameFacts: Sendable {
    var description: FrameDescription
    var fd: Int32
    var isNew: Bool
    var isCopy: Bool
}
