internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

extension KMSOutput {
    /// Composing in software can take seconds on a slow processor.
    private static let patience = HostSpan.seconds(20)

    /// Reads the current screen through the device's write-back connector. For probes; few devices have such a connector.
    ///
    /// Blocks until the device has written. See "Writeback Connectors" in the kernel's DRM documentation.
    func readBack() throws(SystemError) -> ScreenReading {
        guard drmSetClientCap(device.fd, UInt64(DRM_CLIENT_CAP_WRITEBACK_CONNECTORS), 1) == 0, let writer = writeBackConnector() else {
            throw SystemError(ENOTSUP, "read the screen back from \(device.path)")
        }
        let target = try DrawingPool(device, size: mode.size, count: 1).blank()
        let fence = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        unsafe fence.initialize(to: -1)
        defer { unsafe fence.deallocate() }
        var request = AtomicRequest()
        request.set(writer, "CRTC_ID", UInt64(crtc.id))
        request.set(writer, "WRITEBACK_FB_ID", UInt64(target.framebuffer))
        request.set(writer, "WRITEBACK_OUT_FENCE_PTR", UInt64(UInt(bitPattern: fence)))
        let result = device.commit(request, .mayModeset)
        guard result == 0 else { throw SystemError(result, "read the screen back from \(device.path)") }
        let isWritten =
            unsafe fence.pointee >= 0 && SyncFile(adopting: OwnedFD(adopting: fence.pointee)).wait(until: MonotonicClock.shared.now() + Self.patience)
        request = AtomicRequest()
        request.set(writer, "CRTC_ID", 0)
        _ = device.commit(request, .mayModeset)
        guard isWritten else { throw SystemError(ETIMEDOUT, "read the screen back from \(device.path)") }
        return ScreenReading(size: target.size, pitch: target.pitch, bytes: Array(target.bytes.prefix(target.pitch * target.size.height)))
    }

    private func writeBackConnector() -> KMSObject? {
        guard let index = device.crtcIdentifiers.firstIndex(of: crtc.id) else { return nil }
        guard let resources = unsafe drmModeGetResources(device.fd) else { return nil }
        defer { unsafe drmModeFreeResources(resources) }
        for number in 0..<Int(unsafe resources.pointee.count_connectors) {
            guard let found = unsafe drmModeGetConnectorCurrent(device.fd, resources.pointee.connectors[number]) else { continue }
            defer { unsafe drmModeFreeConnector(found) }
            if unsafe found.pointee.connector_type == UInt32(DRM_MODE_CONNECTOR_WRITEBACK),
                unsafe drmModeConnectorGetPossibleCrtcs(device.fd, found) & (1 << UInt32(index)) != 0
            {
                return unsafe device.object(found.pointee.connector_id, type: UInt32(DRM_MODE_OBJECT_CONNECTOR))
            }
        }
        return nil
    }
}
