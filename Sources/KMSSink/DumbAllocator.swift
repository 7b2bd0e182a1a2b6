internal import CDRM
internal import Glibc
internal import Media
internal import SurfacePool

/// Makes surfaces of the display device's own memory, for what the CPU draws: black, converted frames, the status. Four bytes a pixel.
///
/// It needs neither `/dev/udmabuf` nor a driver that exports or imports DMA-BUFs; every display device has such memory.
///
/// Thread-safety: as `SurfaceAllocator`.
struct DumbAllocator: SurfaceAllocator {
    let device: KMSDevice
    let name = "dumb"

    /// The layout that the device gives to images of this size: it decides on the pitch.
    func layout(_ format: PixelFormat, _ size: PixelSize) throws(SystemError) -> SurfaceLayout {
        let memory = try DumbMemory(device, size: size)
        return SurfaceLayout(
            format: format, size: size, modifier: .linear, planes: [SurfaceLayout.Plane(offset: 0, pitch: memory.pitch)],
            byteCount: memory.byteCount)
    }

    /// All bytes are 0: black, or nothing where the format has opacity.
    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        let memory: DumbMemory
        do throws(SystemError) {
            memory = try DumbMemory(device, size: layout.size)
        } catch {
            throw SurfaceError(.noMemory, error.description, status: error.code)
        }
        guard memory.pitch == layout.plane(0).pitch, memory.byteCount >= layout.byteCount else {
            throw SurfaceError(.layout, "\(device.path) does not give memory of the layout that is wanted.")
        }
        return unsafe SurfaceMemory(bytes: UnsafeMutableRawBufferPointer(start: memory.base, count: memory.byteCount), owner: memory)
    }
}

/// A piece of the display device's memory ("dumb buffer"), mapped.
///
/// Thread-safety: the bytes belong to whoever has the surface; the rest does not change. The corresponding C function is `drmModeCreateDumbBuffer`.
@safe
final class DumbMemory: SurfaceMemoryOwner, @unchecked Sendable {
    /// The device's handle, which framebuffers are made of.
    let handle: UInt32
    let pitch: Int
    let byteCount: Int
    let base: UnsafeMutableRawPointer
    private let device: KMSDevice

    init(_ device: KMSDevice, size: PixelSize) throws(SystemError) {
        var handle: UInt32 = 0, pitch: UInt32 = 0, byteCount: UInt64 = 0, offset: UInt64 = 0
        let made = unsafe drmModeCreateDumbBuffer(device.fd, UInt32(size.width), UInt32(size.height), 32, 0, &handle, &pitch, &byteCount)
        guard made == 0 else { throw SystemError(-made, "get \(size) pixels of \(device.path)'s memory") }
        var failure = unsafe -drmModeMapDumbBuffer(device.fd, handle, &offset)
        var base: UnsafeMutableRawPointer?
        if failure == 0 {
            unsafe base = mmap(nil, Int(byteCount), PROT_READ | PROT_WRITE, MAP_SHARED, device.fd, off_t(offset))
            if unsafe base == MAP_FAILED {
                failure = errno
                unsafe base = nil
            }
        }
        guard let base = unsafe base else {
            drmModeDestroyDumbBuffer(device.fd, handle)
            throw SystemError(failure, "map \(size) pixels of \(device.path)'s memory")
        }
        self.handle = handle
        self.pitch = Int(pitch)
        self.byteCount = Int(byteCount)
        unsafe self.base = base
        self.device = device
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: Int(byteCount))
    }

    deinit {
        unsafe munmap(base, byteCount)
        // A framebuffer that is left keeps the memory until it is removed.
        drmModeDestroyDumbBuffer(device.fd, handle)
    }

    func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool {
        unsafe target.copyMemory(from: base, byteCount: layout.byteCount)
        return true
    }
}
