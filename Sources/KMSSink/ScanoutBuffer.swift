internal import DisplaySink
internal import Media
internal import SurfacePool

/// A buffer that can be shown, and how.
struct ScanoutBuffer {
    var framebuffer: UInt32
    var configuration: Configuration
    /// Black, or a converted frame. Nil for a frame's own memory.
    var drawn: DrawnImage?
    /// What lies over it, on a plane of its own; nil: nothing.
    var overlay: PlaneOverlay?

    var isDirect: Bool { drawn == nil }
    /// The device waits for this fence before it reads.
    var fence: Fence?

    /// A frame's own memory.
    init(_ framebuffer: UInt32, _ direct: PlaneSelection.Candidate, waitingFor fence: Fence?) {
        self.framebuffer = framebuffer
        configuration = .direct(direct)
        self.fence = fence
    }

    /// - Parameter part: The part that the monitor shows, in the screen's size.
    init(_ drawn: DrawnImage, part: PixelRect) {
        framebuffer = drawn.framebuffer
        configuration = .copied(part)
        self.drawn = drawn
    }

    /// Signals when another device has finished writing the buffer.
    final class Fence {
        private let file: SyncFile
        var number: Int32 { file.rawValue() }

        /// Nil when no write to the DMA-BUF is pending.
        init?(writing fd: Int32) {
            guard let file = try? DMABuf.exportSyncFile(fd, for: .read), !file.isSignalled else { return nil }
            self.file = file
        }
    }

    /// The plane configuration, which stays the same from frame to frame.
    enum Configuration: Hashable {
        case direct(PlaneSelection.Candidate)
        /// This part of an RGB buffer fills the primary plane.
        case copied(PixelRect)

        var plane: UInt32? { if case .direct(let direct) = self { direct.plane } else { nil } }
    }
}
