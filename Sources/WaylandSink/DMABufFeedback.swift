internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Receives which DMA-BUFs the compositor accepts, in general or for one surface (`zwp_linux_dmabuf_feedback_v1`).
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class DMABufFeedback {
    private let proxy: OpaquePointer
    private let changed: (DMABufOffer) -> Void
    private var state = DMABufFeedbackState()

    /// - Parameter changed: Called with the whole offer at the first feedback and after each change.
    init(_ proxy: OpaquePointer, _ changed: @escaping (DMABufOffer) -> Void) {
        unsafe self.proxy = proxy
        self.changed = changed
        unsafe listen(proxy, Self.listener, self)
    }

    deinit { unsafe zwp_linux_dmabuf_feedback_v1_destroy(proxy) }

    private func read(_ fd: consuming OwnedFD, _ byteCount: Int) {
        guard byteCount > 0, let memory = unsafe mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, fd.rawValue, 0), unsafe memory != MAP_FAILED else {
            return
        }
        defer { unsafe munmap(memory, byteCount) }
        unsafe state.setTable(UnsafeRawBufferPointer(start: memory, count: byteCount))
    }

    /// The `dev_t` in an array.
    private static func device(_ array: UnsafeMutablePointer<wl_array>?) -> UInt64? {
        guard let array = unsafe array, unsafe array.pointee.size == MemoryLayout<UInt64>.size else { return nil }
        return unsafe array.pointee.data.loadUnaligned(as: UInt64.self)
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        zwp_linux_dmabuf_feedback_v1_listener(
            done: { data, _ in
                let feedback = unsafe receiver(data, as: DMABufFeedback.self)
                feedback.changed(feedback.state.end())
            },
            format_table: { data, _, fd, size in unsafe receiver(data, as: DMABufFeedback.self).read(OwnedFD(adopting: fd), Int(size)) },
            main_device: { data, _, array in unsafe receiver(data, as: DMABufFeedback.self).state.setMainDevice(DMABufFeedback.device(array)) },
            tranche_done: { data, _ in unsafe receiver(data, as: DMABufFeedback.self).state.endTranche() },
            tranche_target_device: { data, _, array in
                unsafe receiver(data, as: DMABufFeedback.self).state.setTargetDevice(DMABufFeedback.device(array))
            },
            tranche_formats: { data, _, array in
                let indices = unsafe UnsafeRawBufferPointer(start: array!.pointee.data, count: array!.pointee.size)
                unsafe receiver(data, as: DMABufFeedback.self).state.addFormats(indices.bindMemory(to: UInt16.self))
            },
            tranche_flags: { data, _, flags in unsafe receiver(data, as: DMABufFeedback.self).state.setFlags(flags) }))
}
