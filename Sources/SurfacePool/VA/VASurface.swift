internal import CVA
internal import Media

/// A device's surface: one that a hardware decoder writes, which is destroyed together with the memory that was exported from it, or memory of
/// others that a hardware encoder reads.
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

    /// Memory that somebody else has made becomes a surface of the device, which reads it in place. The driver keeps the memory.
    ///
    /// The corresponding C function is `vaCreateSurfaces` with a descriptor of DRM PRIME 2.
    /// - Parameter surface: In NV12 or P010, with a descriptor.
    package init(importing surface: Surface, device: VADevice) throws(SurfaceError) {
        let layout = surface.layout, isDeep = layout.format == .p010le
        var id = cva_invalid_surface, offsets: [UInt32] = [], pitches: [UInt32] = []
        for index in 0..<2 {
            offsets.append(UInt32(clamping: layout.plane(index).offset))
            pitches.append(UInt32(clamping: layout.plane(index).pitch))
        }
        fourCC = isDeep ? cva_fourcc_p010 : cva_fourcc_nv12
        let status = unsafe cva_import_surface(
            device.display, isDeep ? cva_rt_yuv420_10 : cva_rt_yuv420, fourCC, UInt32(layout.size.width), UInt32(layout.size.height), surface.fd,
            UInt32(clamping: layout.byteCount), layout.modifier.rawValue, &offsets, &pitches, &id)
        guard status == VA_STATUS_SUCCESS else {
            throw SurfaceError(
                .unavailable, "The driver does not import \(surface.memoryKind.rawValue) memory: \(VADevice.reason(status)).", status: status)
        }
        self.device = device
        self.id = id
        size = layout.size
        statistics = FrameStatistics()
    }

    deinit {
        var id = id
        unsafe vaDestroySurfaces(device.display, &id, 1)
    }

    /// Copies the visible part of a frame into the surface; the caller counts the copy. The surface must be as large.
    ///
    /// The corresponding C function is `vaPutImage`.
    /// - Parameter frame: In the surface's own format, or with the same samples in three planes.
    /// - Returns: nil, or why the driver did not take it.
    package func write(_ frame: borrowing VideoFrame) -> String? {
        let layout = frame.surface.layout.linear, visible = frame.visible, facts = layout.format.description
        let count = min(layout.planeCount, 3)
        let status = unsafe frame.surface.withUnsafeBytes { bytes -> VAStatus in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return VA_STATUS_ERROR_INVALID_PARAMETER }
            var planes = unsafe [UnsafePointer<UInt8>?](repeating: nil, count: 3), pitches = [UInt32](repeating: 0, count: 3)
            for index in 0..<count {
                let place = layout.plane(index), plane = facts.planes[index]
                let start = place.offset + (visible.y >> plane.verticalShift) * place.pitch + plane.rowBytes(width: visible.x)
                unsafe planes[index] = base + start
                pitches[index] = UInt32(place.pitch)
            }
            return unsafe cva_write(
                device.display, id, fourCC, UInt32(visible.width), UInt32(visible.height), &planes, &pitches, UInt32(count))
        }
        return status == VA_STATUS_SUCCESS ? nil : VADevice.reason(status)
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
