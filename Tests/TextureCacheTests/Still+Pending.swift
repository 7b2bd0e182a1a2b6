import FrameExport
import Glibc
import Media
import SurfacePool
import TestSupport

extension Still {
    /// The next frame, whose readers have to wait, and what ends the wait: it paints the frame that they must see.
    func pending() throws -> (held: HeldFrame, write: DelayedWrite) {
        let fence = try PendingFence(), held = try held(bars: true)
        let fd = held.withFrame { $0.fd } ?? -1
        try fence.guardReaders(of: fd)
        let size = pool.layout.byteCount, noise = whole
        bytes = unsafe noise.withUnsafeBytes { unsafe FrameBytes(layout: pool.layout, visible: visible, memory: $0).bytes }
        let write = DelayedWrite(fence) {
            guard let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), unsafe memory != MAP_FAILED else { return }
            unsafe UnsafeMutableRawBufferPointer(start: memory, count: size).copyBytes(from: noise)
            unsafe munmap(memory, size)
        }
        return (held, write)
    }
}
