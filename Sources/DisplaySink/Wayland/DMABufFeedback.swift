internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Reads the compositor's tables of DMA-BUF formats (`zwp_linux_dmabuf_feedback_v1`): one table of pairs, and tranches that point
/// into it.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class DMABufFeedback {
    /// 16: a format code, four bytes of padding, a modifier.
    private static let entrySize = 16
    private let proxy: OpaquePointer
    private let changed: (Set<WaylandConnection.DMABufFormat>) -> Void
    private var table: [WaylandConnection.DMABufFormat] = []
    private var formats: Set<WaylandConnection.DMABufFormat> = []

    /// - Parameter changed: Called with all formats of all tranches, now and whenever the compositor changes its mind.
    init(_ proxy: OpaquePointer, _ changed: @escaping (Set<WaylandConnection.DMABufFormat>) -> Void) {
        unsafe self.proxy = proxy
        self.changed = changed
        unsafe listen(proxy, Self.listener, self)
    }

    deinit { unsafe zwp_linux_dmabuf_feedback_v1_destroy(proxy) }

    private func read(_ fd: consuming OwnedFD, _ byteCount: Int) {
        table = []
        guard byteCount > 0, let memory = unsafe mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, fd.rawValue, 0), unsafe memory != MAP_FAILED else {
            return
        }
        defer { unsafe munmap(memory, byteCount) }
        for index in 0..<byteCount / Self.entrySize {
            table.append(
                WaylandConnection.DMABufFormat(
                    format: unsafe memory.load(fromByteOffset: index * Self.entrySize, as: UInt32.self),
                    modifier: unsafe memory.load(fromByteOffset: index * Self.entrySize + 8, as: UInt64.self)))
        }
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        zwp_linux_dmabuf_feedback_v1_listener(
            done: { data, _ in
                let feedback = unsafe receiver(data, as: DMABufFeedback.self)
                feedback.changed(feedback.formats)
                feedback.formats = []
            },
            format_table: { data, _, fd, size in unsafe receiver(data, as: DMABufFeedback.self).read(OwnedFD(adopting: fd), Int(size)) },
            main_device: { _, _, _ in },
            tranche_done: { _, _ in },
            tranche_target_device: { _, _, _ in },
            tranche_formats: { data, _, array in
                let feedback = unsafe receiver(data, as: DMABufFeedback.self)
                let indices = unsafe [UInt16](
                    UnsafeRawBufferPointer(start: array!.pointee.data, count: array!.pointee.size).bindMemory(to: UInt16.self))
                for index in indices where Int(index) < feedback.table.count { feedback.formats.insert(feedback.table[Int(index)]) }
            },
            tranche_flags: { _, _, _ in }))
}
