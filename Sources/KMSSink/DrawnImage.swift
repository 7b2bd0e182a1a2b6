internal import DisplaySink
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
    private let pool: DrawingPool

    fileprivate init(_ use: consuming SurfaceUse, framebuffer: UInt32, _ pool: DrawingPool) {
        size = use.surface.layout.size
        self.framebuffer = framebuffer
        self.use = use
        self.pool = pool
    }

    /// Draws images over this one, which no commit may have shown yet.
    func lay(_ images: [OverlayImage]) {
        let whole = PixelRect(size), pitch = pitch
        unsafe use.surface.withUnsafeBytes { bytes in
            let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
            for image in images {
                guard let seen = image.place.intersection(whole) else { continue }
                for y in seen.y..<seen.y + seen.height {
                    let row = unsafe (base + y * pitch).assumingMemoryBound(to: UInt32.self)
                    let start = (y - image.place.y) * image.place.width - image.place.x
                    for x in seen.x..<seen.x + seen.width {
                        let new = image.pixels[start + x]
                        if new != 0 { unsafe row[x] = OverlayDrawing.mixed(new, over: row[x]) }
                    }
                }
            }
        }
        pool.mark(images.compactMap { $0.place.intersection(whole) }, on: framebuffer)
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
    /// What else was drawn over images, by their framebuffers: black again before the memory is drawn into.
    private var marks: [UInt32: [PixelRect]] = [:]

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
        let framebuffer = try framebuffer(of: writer.surface), marked = marks.removeValue(forKey: framebuffer) ?? []
        let isDrawn = unsafe writer.withUnsafeMutableBytes { bytes in
            let base = bytes.baseAddress!
            for rect in marked {
                for row in rect.y..<rect.y + rect.height { unsafe memset(base + row * pitch + rect.x * 4, 0, rect.width * 4) }
            }
            return unsafe body(base, pitch)
        }
        guard isDrawn else { return nil }
        return DrawnImage(writer.finish(), framebuffer: framebuffer, self)
    }

    /// These parts of an image are not as `draw` has left them.
    fileprivate func mark(_ parts: [PixelRect], on framebuffer: UInt32) { marks[framebuffer, default: []] += parts }

    /// An image as an earlier one left it, black at first.
    func blank() throws(SystemError) -> DrawnImage {
        let writer = try acquire()
        let framebuffer = try framebuffer(of: writer.surface)
        return DrawnImage(writer.finish(), framebuffer: framebuffer, self)
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
