internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media
internal import SurfacePool

/// One driven monitor: its mode, its planes and what they show.
///
/// Thread-safety: belongs to the device's thread.
@safe
final class KMSOutput {
    let device: KMSDevice
    private(set) var connector: KMSConnector
    /// The connector's properties when the sink was opened.
    let found: KMSObject
    let crtc: KMSObject
    let planes: [KMSPlane]
    private let primary: KMSPlane
    private(set) var mode: DisplayMode
    private var kernelMode: drmModeModeInfo
    private var modeBlob: UInt32 = 0
    private var black: DrawnImage?
    /// The CRTC's state when the sink was opened.
    private var saved: UnsafeMutablePointer<drmModeCrtc>?
    /// The configuration that is set now; nil while it is unknown or the monitor is dark.
    private(set) var current: ScanoutBuffer.Configuration?
    /// Whether a monitor is plugged in.
    private(set) var isPlugged = true
    /// The status over the film; nil when it is not shown or no plane is free for it.
    private(set) var overlay: KMSOverlay?
    /// What is signalled, and whether the sink has ever changed it.
    private(set) var signal = HDRSignaling.sdr
    private(set) var hasSignalled = false
    private(set) var metadataBlob: UInt32 = 0
    /// Whether VRR is on.
    var isVariable = false { didSet { if isVariable != oldValue { current = nil } } }

    /// Chooses a mode. The monitor does not change yet.
    ///
    /// - Parameter planes: The planes that are assigned to this output.
    init(_ device: KMSDevice, _ connector: KMSConnector, crtc: UInt32, _ planes: [KMSPlane], request: ModeRequest) throws(SinkError) {
        self.device = device
        self.connector = connector
        found = connector.object
        self.crtc = device.object(crtc, type: UInt32(DRM_MODE_OBJECT_CRTC))
        self.planes = planes
        guard let primary = planes.first(where: { $0.capabilities.kind == .primary }) else {
            throw SinkError(.unsupported, "\(device.path) has no plane for \(connector.name).")
        }
        self.primary = primary
        unsafe saved = unsafe drmModeGetCrtc(device.fd, crtc)
        let current = unsafe Self.current(saved)
        let chosen = ModeSelection.choose(
            connector.modes, current: current, request: request, filmSize: PixelSize(width: 0, height: 0), filmRate: .unknown)
        guard let chosen else {
            if let saved = unsafe saved { unsafe drmModeFreeCrtc(saved) }
            throw Self.noMode(connector)
        }
        mode = connector.modes[chosen]
        kernelMode = connector.kernelModes[chosen]
    }

    deinit {
        device.destroyBlob(modeBlob)
        device.destroyBlob(metadataBlob)
        if let saved = unsafe saved { unsafe drmModeFreeCrtc(saved) }
    }

    private static func noMode(_ connector: KMSConnector) -> SinkError {
        var offered: [String] = []
        for mode in connector.modes.map(\.description) where !offered.contains(mode) { offered.append(mode) }
        return SinkError(
            .unsupported,
            "\(connector.name) has no such mode; it offers \(offered.prefix(12).joined(separator: ", "))\(offered.count > 12 ? ", …" : "").")
    }

    private static func current(_ saved: UnsafeMutablePointer<drmModeCrtc>?) -> DisplayMode? {
        guard let saved = unsafe saved, unsafe saved.pointee.mode_valid != 0 else { return nil }
        return unsafe DisplayMode(saved.pointee.mode)
    }

    // MARK: Mode

    /// Chooses the mode again, for another film or another monitor. True when the mode changes, which happens with the next full commit.
    func chooseMode(request: ModeRequest, filmSize: PixelSize, filmRate: Ratio) throws(SinkError) -> Bool {
        let set = unsafe current == nil ? Self.current(saved) : mode
        guard let chosen = ModeSelection.choose(connector.modes, current: set, request: request, filmSize: filmSize, filmRate: filmRate) else {
            throw Self.noMode(connector)
        }
        guard connector.modes[chosen] != mode else { return false }
        mode = connector.modes[chosen]
        kernelMode = connector.kernelModes[chosen]
        device.destroyBlob(modeBlob)
        modeBlob = 0
        black = nil
        current = nil
        return true
    }

    /// Probes the connector again.
    func probe() {
        let now = KMSConnector(device, id: connector.object.id, probing: true)
        if let now { connector = now }
        isPlugged = now?.isConnected ?? false
        if !isPlugged { current = nil }
    }

    /// The link to the monitor failed, so the mode must be set again (`link-status`).
    var isLinkBad: Bool { connector.object.properties["link-status"].map { $0.value == $0.names["Bad"] } ?? false }

    /// Another program may drive the monitor: the next frame sets every property again.
    func forget() { current = nil }

    /// Signals this with the next frame.
    func setSignal(_ signal: HDRSignaling) {
        guard signal != self.signal else { return }
        if signal.metadata != self.signal.metadata {
            device.destroyBlob(metadataBlob)
            metadataBlob = signal.metadata.map { device.makeBlob(bytes: $0) } ?? 0
        }
        self.signal = signal
        hasSignalled = true
        current = nil
    }

    // MARK: Commits

    /// Whether the buffer needs more than a new framebuffer on its plane.
    func isFull(_ buffer: ScanoutBuffer) -> Bool { current != buffer.configuration }

    /// Adds the properties that show a buffer: all of them, or only the framebuffer when nothing else changes.
    func add(_ buffer: ScanoutBuffer, to request: inout AtomicRequest) throws(SystemError) {
        let film = planes.first { $0.object.id == buffer.configuration.plane } ?? primary
        addOverlay(to: &request, isFull: isFull(buffer))
        if let fence = buffer.fence { request.set(film.object, "IN_FENCE_FD", UInt64(fence.number)) }
        guard isFull(buffer) else {
            request.set(film.object, "FB_ID", UInt64(buffer.framebuffer))
            return
        }
        if modeBlob == 0 { modeBlob = device.makeBlob(kernelMode) }
        request.set(connector.object, "CRTC_ID", UInt64(crtc.id))
        if isLinkBad { request.set(connector.object, "link-status", named: "Good") }
        request.set(crtc, "MODE_ID", UInt64(modeBlob))
        request.set(crtc, "ACTIVE", 1)
        addSignal(to: &request)
        for other in planes where other.object.id != film.object.id && other.object.id != overlay?.place.plane {
            if other.object.id == primary.object.id, case .direct = buffer.configuration {
                let black = try blackImage()
                show(black.framebuffer, PixelRect(black.size), on: other, &request)
            } else {
                request.turnOff(plane: other.object)
            }
        }
        switch buffer.configuration {
        case .direct(let direct):
            request.show(
                buffer.framebuffer, on: film.object, crtc: crtc.id, source: direct.placement.source, destination: direct.placement.destination)
            request.set(film.object, "rotation", direct.rotation)
            if let encoding = direct.encoding { request.set(film.object, "COLOR_ENCODING", named: encoding) }
            if let range = direct.range { request.set(film.object, "COLOR_RANGE", named: range) }
            if let zpos = direct.zpos { request.set(film.object, "zpos", zpos) }
        case .copied(let part): show(buffer.framebuffer, part, on: film, &request)
        }
    }

    /// The commit with this buffer was accepted.
    func didShow(_ buffer: ScanoutBuffer) {
        current = buffer.configuration
        overlay?.didCommit()
    }

    // MARK: Over the film

    /// Shows the status over the next buffer; nil removes it. False when no plane is free for it.
    func showStatus(_ status: PlaybackStatus?, over buffer: ScanoutBuffer) throws(SystemError) -> Bool {
        let filmZpos = if case .direct(let direct) = buffer.configuration { direct.zpos } else { UInt64?.none }
        let place = OverlayPlaneSelection.choose(
            planes.map(\.capabilities), film: buffer.configuration.plane ?? primary.object.id, filmZpos: filmZpos)
        if let old = overlay, old.place != place || old.screen != mode.size {
            // The film uses the plane now, or the mode has changed.
            overlay = nil
            current = nil
        }
        if overlay == nil, status != nil { overlay = place.map { KMSOverlay(device, $0, screen: mode.size) } }
        try overlay?.show(status)
        return status == nil || overlay != nil
    }

    /// Removes the status.
    func removeOverlay() {
        if overlay != nil { current = nil }
        overlay = nil
    }

    private func addOverlay(to request: inout AtomicRequest, isFull: Bool) {
        guard let overlay, let plane = planes.first(where: { $0.object.id == overlay.place.plane }) else { return }
        overlay.add(to: &request, on: plane.object, crtc: crtc.id, isFull: isFull)
    }

    /// A black image of the screen's size.
    func blackImage() throws(SystemError) -> DrawnImage {
        if let black { return black }
        let made = try DrawingPool(device, size: mode.size, count: 1).blank()
        black = made
        return made
    }

    private func show(_ framebuffer: UInt32, _ part: PixelRect, on plane: KMSPlane, _ request: inout AtomicRequest) {
        request.show(
            framebuffer, on: plane.object, crtc: crtc.id, source: PlanePlacement.Source(part), destination: PixelRect(mode.size))
        request.set(plane.object, "rotation", 1)
    }

    /// Shows black at the next refresh; no event follows.
    func showBlack() {
        guard current != nil, let black = try? blackImage() else { return }
        let buffer = ScanoutBuffer(black, part: PixelRect(black.size))
        var request = AtomicRequest()
        guard (try? add(buffer, to: &request)) != nil else { return }
        if device.commit(request, []) == 0 { didShow(buffer) }
    }

    /// Restores the monitor as it was found: showing the console, or off.
    func restore() {
        guard device.isMaster else { return }
        var request = AtomicRequest()
        for plane in planes where plane.object.id != primary.object.id { request.turnOff(plane: plane.object) }
        for plane in planes { request.set(plane.object, "rotation", 1) }
        _ = device.commit(request, [])
        request = AtomicRequest()
        addFormerSignal(to: &request)
        if !request.entries.isEmpty { _ = device.commit(request, .mayModeset) }
        if let saved = unsafe saved, unsafe saved.pointee.buffer_id != 0, unsafe saved.pointee.mode_valid != 0,
            unsafe cdrm_restore(device.fd, saved, connector.object.id) == 0
        {
            return
        }
        request = AtomicRequest()
        for plane in planes { request.turnOff(plane: plane.object) }
        request.set(connector.object, "CRTC_ID", 0)
        request.set(crtc, "ACTIVE", 0)
        request.set(crtc, "MODE_ID", 0)
        _ = device.commit(request, .mayModeset)
    }
}
