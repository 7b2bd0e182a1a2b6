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
    /// What is set on the plane above the film; nil: nothing is shown there.
    private var currentOverlay: (configuration: PlaneOverlay.Configuration, framebuffer: UInt32)?
    /// Draws what lies over the film.
    let overlay: KMSOverlay
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
        overlay = KMSOverlay(device)
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
        addOverlay(of: buffer, film: film.object.id, to: &request)
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
        for other in planes where other.object.id != film.object.id && other.object.id != buffer.overlay?.configuration.place.plane {
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
        currentOverlay = buffer.overlay.map { ($0.configuration, $0.drawn.framebuffer) }
    }

    // MARK: Over the film

    /// The plane for what lies over a buffer; nil: there is none.
    func overlayPlace(over buffer: ScanoutBuffer) -> OverlayPlaneSelection.Place? {
        let filmZpos = if case .direct(let direct) = buffer.configuration { direct.zpos } else { UInt64?.none }
        return OverlayPlaneSelection.choose(
            planes.map(\.capabilities), film: buffer.configuration.plane ?? primary.object.id, filmZpos: filmZpos)
    }

    /// Whether the device must be asked if it takes the buffer with what lies over it.
    func mustTestOverlay(of buffer: ScanoutBuffer) -> Bool {
        guard let overlay = buffer.overlay else { return false }
        return isFull(buffer) || overlay.configuration != currentOverlay?.configuration
    }

    /// Adds the properties that change; all of them with a full commit, which turns planes off that are not used.
    private func addOverlay(of buffer: ScanoutBuffer, film: UInt32, to request: inout AtomicRequest) {
        let isFull = isFull(buffer), overlay = buffer.overlay
        if !isFull, let old = currentOverlay?.configuration.place.plane, old != overlay?.configuration.place.plane, old != film,
            let plane = planes.first(where: { $0.object.id == old })
        {
            request.turnOff(plane: plane.object)
        }
        guard let overlay, let plane = planes.first(where: { $0.object.id == overlay.configuration.place.plane })?.object else { return }
        let place = overlay.configuration
        guard isFull || place != currentOverlay?.configuration else {
            if overlay.drawn.framebuffer != currentOverlay?.framebuffer { request.set(plane, "FB_ID", UInt64(overlay.drawn.framebuffer)) }
            return
        }
        request.show(
            overlay.drawn.framebuffer, on: plane, crtc: crtc.id, source: PlanePlacement.Source(place.destination.size),
            destination: place.destination)
        if let zpos = place.place.zpos { request.set(plane, "zpos", zpos) }
        request.set(plane, "pixel blend mode", named: "Pre-multiplied")
        request.set(plane, "alpha", 0xffff)
        request.set(plane, "rotation", 1)
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
