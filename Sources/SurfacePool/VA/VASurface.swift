internal import CVA
internal import Media

/// A hardware decoder's surface. It is destroyed together with the memory that was exported from it.
///
/// The corresponding C type is `VASurfaceID`. Thread-safety: all of it; immutable.
package final class VASurface: SurfaceMemoryOwner {
    package let device: VADevice
    package let id: UInt32
    package var deviceNumber: DeviceNumber? { device.number }
    private let fourCC: UInt32
    private let size: PixelSize
    private let statistics: FrameStatistics

    init(device: VADevice, format: PixelFormat, size: PixelSize, statistics: FrameStatistics) throws(SurfaceError) {
        let isDeep = format == .p010le
        var id = cva_invalid_surface
        fourCC = isDeep ? cva_fourcc_p010 : cva_fourcc_nv12
        let status = unsafe cva_create_surface(
            device.display, isDeep ? cva_rt_yuv420_10 : cva_rt_yuv420, fourCC, UInt32(size.width), UInt32(size.height), &id)
        guard status == VA_STATUS_SUCCESS else {
            throw SurfaceError(.noMemory, "The driver makes no surface of \(size.width)x\(size.height): \(VADevice.reason(status)).", status: status)
        }
        self.device = device
        self.id = id
        self.size = size
        self.statistics = statistics
    }

    deinit {
        var id = id
        unsafe vaDestroySurfaces(device.display, &id, 1)
    }

    package func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool {
        var offsets = [UInt32(layout.plane(0).offset), UInt32(layout.plane(1).offset)]
        var pitches = [UInt32(layout.plane(0).pitch), UInt32(layout.plane(1).pitch)]
        let status = unsafe cva_read(
            device.display, id, fourCC, UInt32(size.width), UInt32(size.height), target.assumingMemoryBound(to: UInt8.self), &offsets, &pitches)
        guard status == VA_STATUS_SUCCESS else { return false }
        statistics.addCopied(layout.format.byteCount(width: size.width, height: size.height))
        return true
    }
}
