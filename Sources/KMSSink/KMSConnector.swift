internal import CDRM
internal import Media

/// A connector and the monitor that is plugged into it.
@safe
struct KMSConnector {
    var object: KMSObject
    /// The kernel's name: `HDMI-A-1`.
    var name: String
    /// The monitor's name from its EDID; nil when it has none.
    var monitor: String?
    /// HDR transfer functions and wide primaries that the monitor supports.
    var colorSupport: EDID.ColorSupport
    var isConnected: Bool
    var modes: [DisplayMode]
    /// The kernel's structures for `modes`.
    var kernelModes: [drmModeModeInfo]
    /// Bits of the CRTCs, in the device's order, that can drive it.
    var crtcs: UInt32

    /// - Parameter probing: Ask the monitor, which takes time on real hardware, instead of using what the kernel knows.
    init?(_ device: KMSDevice, id: UInt32, probing: Bool) {
        let found = unsafe probing ? drmModeGetConnector(device.fd, id) : drmModeGetConnectorCurrent(device.fd, id)
        guard let found = unsafe found else { return nil }
        defer { unsafe drmModeFreeConnector(found) }
        let facts = unsafe found.pointee
        guard unsafe facts.connector_type != UInt32(DRM_MODE_CONNECTOR_WRITEBACK) else { return nil }
        let type = unsafe drmModeGetConnectorTypeName(facts.connector_type).map { unsafe String(cString: $0) } ?? "Unknown"
        name = unsafe "\(type)-\(facts.connector_type_id)"
        object = device.object(id, type: UInt32(DRM_MODE_OBJECT_CONNECTOR))
        let edid = device.blobBytes(object.properties["EDID"]?.value ?? 0)
        monitor = EDID.monitorName(edid)
        colorSupport = EDID.colorSupport(edid)
        kernelModes = unsafe facts.count_modes > 0 ? Array(UnsafeBufferPointer(start: facts.modes, count: Int(facts.count_modes))) : []
        isConnected = unsafe facts.connection == DRM_MODE_CONNECTED && facts.count_modes > 0
        modes = kernelModes.map { DisplayMode($0) }
        crtcs = unsafe drmModeConnectorGetPossibleCrtcs(device.fd, found)
    }

    /// The CRTC that drives it now; 0: none.
    var crtc: UInt32 { UInt32(truncatingIfNeeded: object.properties["CRTC_ID"]?.value ?? 0) }

    /// For messages: `HDMI-A-1 (DELL U2720Q)`.
    var description: String { monitor.map { "\(name) (\($0))" } ?? name }
}

extension DisplayMode {
    init(_ mode: drmModeModeInfo) {
        let isDoubled = mode.flags & UInt32(DRM_MODE_FLAG_DBLSCAN) != 0
        self.init(
            size: PixelSize(width: Int(mode.hdisplay), height: Int(mode.vdisplay)), clock: mode.clock, horizontalTotal: mode.htotal,
            verticalTotal: mode.vtotal, scans: max(1, Int(mode.vscan)) * (isDoubled ? 2 : 1),
            isPreferred: mode.type & UInt32(DRM_MODE_TYPE_PREFERRED) != 0, isInterlaced: mode.flags & UInt32(DRM_MODE_FLAG_INTERLACE) != 0)
    }
}
