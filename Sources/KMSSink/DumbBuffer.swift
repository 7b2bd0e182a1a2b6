internal import CDRM
internal import Glibc
internal import Media

/// A frame in the display device's own memory that the CPU can write: black, a converted frame, or the status. Four bytes a pixel.
///
/// Thread-safety: belongs to the device's thread. The corresponding C function is `drmModeCreateDumbBuffer`.
@safe
final class DumbBuffer {

    let size: PixelSize
    let pitch: Int
    let base: UnsafeMutableRawPointer
    let framebuffer: UInt32
    private let device: KMSDevice
    private let handle: UInt32
    private let byteCount: Int
    /// On the screen, or on its way there.
    var isHeld = false

    /// Zeros: black, or nothing where the format has opacity.
    init(_ device: KMSDevice, size: PixelSize, format: FourCC = FourCC("XR24")) throws(SystemError) {
        var handle: UInt32 = 0, pitch: UInt32 = 0, byteCount: UInt64 = 0, offset: UInt64 = 0, framebuffer: UInt32 = 0
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
        if failure == 0 {
            failure = unsafe -cdrm_add_framebuffer(
                device.fd, UInt32(size.width), UInt32(size.height), format.rawValue, handle, 1, [pitch], [0], 0, 0, &framebuffer)
        }
        guard failure == 0, let base = unsafe base else {
            if let base = unsafe base { unsafe munmap(base, Int(byteCount)) }
            drmModeDestroyDumbBuffer(device.fd, handle)
            throw SystemError(failure, "map \(size) pixels of \(device.path)'s memory")
        }
        self.size = size
        self.pitch = Int(pitch)
        unsafe self.base = base
        self.framebuffer = framebuffer
        self.device = device
        self.handle = handle
        self.byteCount = Int(byteCount)
        clear()
    }

    deinit {
        drmModeRmFB(device.fd, framebuffer)
        unsafe munmap(base, byteCount)
        drmModeDestroyDumbBuffer(device.fd, handle)
    }

    var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: base, count: byteCount)) }

    func clear() { unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
}
