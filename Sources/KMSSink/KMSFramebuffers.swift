internal import CDRM
internal import Glibc
internal import Media
internal import SurfacePool

/// The framebuffers over the pool's surfaces: made once for each when it is first shown, removed when its memory is gone.
///
/// Thread-safety: belongs to the device's thread; only `gone` is filled by others.
final class KMSFramebuffers {
    private struct Slot {
        var framebuffer: UInt32
        var handle: UInt32
    }

    private let device: KMSDevice
    private var slots: [SurfaceIdentity: Slot] = [:]
    private let gone = Monitor<[SurfaceIdentity]>([])

    init(_ device: KMSDevice) { self.device = device }

    /// The framebuffer that scans out `surface` as `format`.
    func framebuffer(for surface: Surface, as format: FourCC) throws(SystemError) -> UInt32 {
        forgetGone()
        if let slot = slots[surface.identity] { return slot.framebuffer }
        let layout = surface.layout
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
        // Drivers that know no modifiers know linear memory only.
        if result != 0, layout.modifier == .linear { result = add(false) }
        guard result == 0 else {
            device.handles.release(handle)
            throw SystemError(-result, "make a framebuffer of \(format)")
        }
        slots[surface.identity] = Slot(framebuffer: id, handle: handle)
        surface.onGone { [gone] identity in gone.withLock { $0.append(identity) } }
        return id
    }

    /// Removes all.
    func destroy() {
        for slot in slots.values { remove(slot) }
        slots = [:]
    }

    private func forgetGone() {
        let identities = gone.withLock { identities in
            let taken = identities
            identities = []
            return taken
        }
        for identity in identities {
            if let slot = slots.removeValue(forKey: identity) { remove(slot) }
        }
    }

    private func remove(_ slot: Slot) {
        drmModeRmFB(device.fd, slot.framebuffer)
        device.handles.release(slot.handle)
    }
}
