internal import Glibc
internal import Media
internal import SurfacePool

/// What the CPU has drawn for a monitor: black, a converted frame, the status. Its memory is not written again while this exists.
///
/// Thread-safety: belongs to the device's thread.
final class DrawnImage {
    let size: PixelSize
    let framebuffer: UInt32
    private let use: SurfaceUse

    fileprivate init(_ use: consuming SurfaceUse, framebuffer: UInt32) {
        size = use.surface.layout.size
        self.framebuffer = framebuffer
        self.use = use
    }

    /// Bytes from one row to the next.
    var pitch: Int { use.surface.layout.plane(0).pitch }
    /// The bytes as the device reads them.
    var bytes: [UInt8] { unsafe use.surface.withUnsafeBytes { unsafe Array($0) } }
}

/// Surfaces of the display device's memory for images of one size, drawn and shown in turn.
///
/// Thread-safety: belongs to the device's thread.
final class DrawingPool {
    let size: PixelSize
    private let device: KMSDevice
    private let format: PixelFormat
    private let pool: SurfacePool

    /// - Parameter count: Images that may exist at once. Memory is allocated when it is first needed.
    init(_ device: KMSDevice, size: PixelSize, format: PixelFormat = .bgr0, count: Int) throws(SystemError) {
        self.device = device
        self.size = size
        self.format = format
        let allocator = DumbAllocator(device: device)
        pool = SurfacePool(layout: try allocator.layout(format, size), allocator: allocator, maximumCount: count)
    }

    /// An image that `body` draws; nil when `body` returns false. What it does not write is as an earlier image left it, black at first.
    ///
    /// - Parameter body: Gets the first byte of the image and the bytes from one row to the next.
    func draw(_ body: (UnsafeMutableRawPointer, Int) -> Bool) throws(SystemError) -> DrawnImage? {
        let writer = try acquire(), pitch = pool.layout.plane(0).pitch
        let framebuffer = try framebuffer(of: writer.surface)
        guard unsafe writer.withUnsafeMutableBytes({ unsafe body($0.baseAddress!, pitch) }) else { return nil }
        return DrawnImage(writer.finish(), framebuffer: framebuffer)
    }

    /// An image as an earlier one left it, black at first.
    func blank() throws(SystemError) -> DrawnImage {
        let writer = try acquire()
        let framebuffer = try framebuffer(of: writer.surface)
        return DrawnImage(writer.finish(), framebuffer: framebuffer)
    }

    private func framebuffer(of surface: Surface) throws(SystemError) -> UInt32 {
        try device.framebuffers.framebuffer(for: surface, as: format.fourCC!)
    }

    private func acquire() throws(SystemError) -> SurfaceWriter {
        do throws(SurfaceError) {
            if let writer = try pool.acquire() { return writer }
        } catch {
            throw SystemError(error.status == 0 ? ENOMEM : error.status, "get \(size) pixels of \(device.path)'s memory")
        }
        throw SystemError(EBUSY, "draw into memory of \(device.path), all of which is shown")
    }
}
