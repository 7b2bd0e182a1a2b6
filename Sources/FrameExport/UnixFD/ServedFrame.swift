internal import Media

/// A frame in the hands of clients that are other processes; it is released when the last of them has let go, or is gone.
///
/// The protocol carries no fences. Before the memory is written again, the pool waits for the fences that the clients' devices have left in
/// the DMA-BUF. The decoder does not wait: a device that hangs costs a slot.
final class ServedFrame: Sendable {
    let description: FrameDescription
    /// Of the frame's memory, as clients get it; lent.
    let descriptor: Int32
    private let frame: HeldFrame

    init(_ frame: consuming ExportedFrame) {
        descriptor = frame.readOnlyFD
        self.frame = HeldFrame(frame)
        description = self.frame.description
    }

    deinit {
        switch frame.take() {
        case .some(let frame): frame.releaseAfterDevices()
        case .none: break
        }
    }
}

extension ExportedFrame {
    /// Releases the frame when no device reads or writes its DMA-BUF any more.
    consuming func releaseAfterDevices() {
        guard description.isDMABuf, let fence = try? DMABuf.exportSyncFile(fd, for: .write) else { return release() }
        release(after: fence)
    }
}
