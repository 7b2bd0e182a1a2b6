internal import CDRM
internal import Glibc
internal import Media
internal import SurfacePool

/// The framebuffers of the pool's surfaces: each is made when its surface is first shown and removed when the surface's memory is gone.
///
/// Thread-safety: belongs to the device's thread.
final class KMSFramebuffers {
    private struct Framebuffer {
        var id: UInt32
        var handle: UInt32
    }

    private let device: KMSDevice
    private var cache = SurfaceCache<Framebuffer>()

    init(_ device: KMSDevice) { self.device = device }

    /// The framebuffer that scans out `surface` as `format`.
    func framebuffer(for surface: Surface, as format: FourCC) throws(SystemError) -> UInt32 {
        for (_, framebuffer) in cache.takeGone() { remove(framebuffer) }
        if let known = cache[surface.identity] { return known.id }
        let layout = surface.layout
        guard layout.fitsDisplays else { throw SystemError(EOVERFLOW, "make a framebuffer of \(layout.byteCount) bytes") }
        let handle = try device.handles.importing(surface.fd)
        let pitches = (0..<layout.planeCount).map { UInt32(layout.plane($0).pitch) }
        let offsets = (0..<layout.planeCount).map { UInt32(layout.plane($0).offset) }
        var id: UInt32 = 0
        func add(_ hasModifiers: Bool) -> Int32 {
            unsafe cdrm_add_framebuffer(
                device.fd, UInt32(layout.size.width), UInt32(layout.size.height), format.rawValue, handle, Int32(layout.planeCount), pitches,
                offsets, layout.modifier.rawValue, hasModifiers ? 1 : 0, &id)
        }
        var result = add(true)
        // Drivers without modifier support take linear memory only.
        if result != 0, layout.modifier == .linear { result = add(false) }
        guard result == 0 else {
            device.handles.release(handle)
            throw SystemError(-result, "make a framebuffer of \(format)")
        }
        cache.insert(Framebuffer(id: id, handle: handle), for: surface)
        return id
    }

    /// Removes all framebuffers.
    func destroy() { for framebuffer in cache.removeAll() { remove(framebuffer) } }

    private func remove(_ framebuffer: Framebuffer) {
        drmModeRmFB(device.fd, framebuffer.id)
        device.handles.release(framebuffer.handle)
    }
}
