internal import CDRM
internal import Glibc
internal import Media
internal import SurfacePool

/// The framebuffers of surfaces, of a decoder's pool or of the device's own memory: each is made when its surface is first shown and removed when
/// the surface's memory is gone.
///
/// Thread-safety: belongs to the device's thread.
final class KMSFramebuffers {
    private struct Framebuffer {
        var id: UInt32
        /// The handle of a DMA-BUF; nil for the device's own memory, which keeps its handle itself.
        var imported: UInt32?
    }

    private let fd: Int32
    private let handles: GEMHandles
    private var cache = SurfaceCache<Framebuffer>()

    /// - Parameter fd: The device, borrowed for as long as this object lives.
    init(fd: Int32, _ handles: GEMHandles) {
        self.fd = fd
        self.handles = handles
    }

    /// The framebuffer that scans out `surface` as `format`.
    func framebuffer(for surface: Surface, as format: FourCC) throws(SystemError) -> UInt32 {
        for (_, framebuffer) in cache.takeGone() { remove(framebuffer) }
        if let known = cache[surface.identity] { return known.id }
        let layout = surface.layout
        guard layout.fitsDisplays else { throw SystemError(EOVERFLOW, "make a framebuffer of \(layout.byteCount) bytes") }
        let own = surface.owner as? DumbMemory
        let handle = if let own { own.handle } else { try handles.importing(surface.fd) }
        let pitches = (0..<layout.planeCount).map { UInt32(layout.plane($0).pitch) }
        let offsets = (0..<layout.planeCount).map { UInt32(layout.plane($0).offset) }
        var id: UInt32 = 0
        func add(_ hasModifiers: Bool) -> Int32 {
            unsafe cdrm_add_framebuffer(
                fd, UInt32(layout.size.width), UInt32(layout.size.height), format.rawValue, handle, Int32(layout.planeCount), pitches,
                offsets, layout.modifier.rawValue, hasModifiers ? 1 : 0, &id)
        }
        // The device knows how its own memory is laid out.
        var result = add(own == nil)
        // Drivers without modifier support take linear memory only.
        if result != 0, own == nil, layout.modifier == .linear { result = add(false) }
        guard result == 0 else {
            if own == nil { handles.release(handle) }
            throw SystemError(-result, "make a framebuffer of \(format)")
        }
        cache.insert(Framebuffer(id: id, imported: own == nil ? handle : nil), for: surface)
        return id
    }

    /// Removes all framebuffers.
    func destroy() { for framebuffer in cache.removeAll() { remove(framebuffer) } }

    private func remove(_ framebuffer: Framebuffer) {
        drmModeRmFB(fd, framebuffer.id)
        if let handle = framebuffer.imported { handles.release(handle) }
    }
}
