internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media
internal import SurfacePool

/// One monitor being driven: its mode, its planes, and what lies on them.
///
/// Thread-safety: belongs to the device's thread.
@safe
final class KMSOutput {
    /// A picture ready to be put on a plane.
    struct Picture {
        var framebuffer: UInt32
        var way: Way
        /// Written by the processor: black, or a converted picture.
        var dumb: DumbPicture?

        var isDirect: Bool { dumb == nil }
        /// What the device has to wait for before it reads.
        var fence: Fence?

        /// Straight from the decoder's memory.
        init(_ framebuffer: UInt32, _ direct: PlaneChoice.Direct, waitingFor fence: Fence?) {
            self.framebuffer = framebuffer
            way = .direct(direct)
            self.fence = fence
        }

        /// - Parameter part: What the monitor shows of it, as large as the screen.
        init(_ dumb: DumbPicture, part: PixelRect) {
            framebuffer = dumb.framebuffer
            way = .copied(part)
            self.dumb = dumb
        }
    }

    /// The end of another device's writing.
    final class Fence {
        private let file: SyncFile
        var number: Int32 { file.rawValue() }

        /// nil when nobody writes the DMA-BUF any more.
        init?(writing fd: Int32) {
            guard let file = try? DMABuf.exportSyncFile(fd, for: .read), !file.isSignalled else { return nil }
            self.file = file
        }
    }

    /// What stays from picture to picture.
    enum Way: Hashable {
        case direct(PlaneChoice.Direct)
        /// This part of a picture of RGB fills the primary plane.
        case copied(PixelRect)

        fileprivate var plane: UInt32? { if case .direct(let direct) = self { direct.plane } else { nil } }
    }

    let device: KMSDevice
    private(set) var connector: KMSConnector
    /// The connector as it was when the player came.
    let found: KMSObject
    let crtc: KMSObject
    let planes: [KMSPlane]
    private let primary: KMSPlane
    private(set) var mode: DisplayMode
    private var kernelMode: drmModeModeInfo
    private var modeBlob: UInt32 = 0
    private var black: DumbPicture?
    /// What was on the CRTC when the player came.
    private var saved: UnsafeMutablePointer<drmModeCrtc>?
    /// The way that is set on the planes now; nil while the monitor is dark or not ours.
    private(set) var lit: Way?
    /// Whether there is a monitor in the socket.
    private(set) var isPlugged = true
    /// Over the film; nil while nobody wants it, and where there is no place for it.
    private(set) var overlay: KMSOverlay?
    /// What the monitor is told about the film's light, and whether it was ever told something unusual.
    private(set) var signal = DisplaySignal.usual
    private(set) var hasSignalled = false
    private(set) var metadataBlob: UInt32 = 0
    /// The monitor waits for pictures.
    var isVariable = false { didSet { if isVariable != oldValue { lit = nil } } }

    /// Chooses a mode; the monitor does not change yet.
    ///
    /// - Parameter planes: Those that the monitor may have for itself.
    init(_ device: KMSDevice, _ connector: KMSConnector, crtc: UInt32, _ planes: [KMSPlane], wish: ModeWish) throws(SinkError) {
        self.device = device
        self.connector = connector
        found = connector.object
        self.crtc = device.object(crtc, type: UInt32(DRM_MODE_OBJECT_CRTC))
        self.planes = planes
        guard let primary = planes.first(where: { $0.offer.kind == .primary }) else {
            throw SinkError(.unsupported, "\(device.path) has no plane for \(connector.name).")
        }
        self.primary = primary
        unsafe saved = unsafe drmModeGetCrtc(device.fd, crtc)
        let current = unsafe Self.current(saved)
        let chosen = ModeChoice.choose(
            connector.modes, current: current, wish: wish, filmSize: PixelSize(width: 0, height: 0), filmRate: .unknown)
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

    /// Chooses again, as for another film or another monitor. True when the mode changes (with the next full commit).
    func chooseMode(wish: ModeWish, filmSize: PixelSize, filmRate: Ratio) throws(SinkError) -> Bool {
        let current = unsafe lit == nil ? Self.current(saved) : mode
        guard let chosen = ModeChoice.choose(connector.modes, current: current, wish: wish, filmSize: filmSize, filmRate: filmRate) else {
            throw Self.noMode(connector)
        }
        guard connector.modes[chosen] != mode else { return false }
        mode = connector.modes[chosen]
        kernelMode = connector.kernelModes[chosen]
        device.destroyBlob(modeBlob)
        modeBlob = 0
        black = nil
        lit = nil
        return true
    }

    /// Looks whether the monitor is still there, and what it is.
    func probe() {
        let now = KMSConnector(device, id: connector.object.id, probing: true)
        if let now { connector = now }
        isPlugged = now?.isConnected ?? false
        if !isPlugged { lit = nil }
    }

    /// The link to the monitor broke and the mode has to be set again (`link-status`).
    var isLinkBad: Bool { connector.object.properties["link-status"].map { $0.value == $0.names["Bad"] } ?? false }

    /// Others drive the monitor, or nobody: everything is to be set with the next picture.
    func forget() { lit = nil }

    /// The monitor is told this with the next picture.
    func tell(_ signal: DisplaySignal) {
        guard signal != self.signal else { return }
        if signal.metadata != self.signal.metadata {
            device.destroyBlob(metadataBlob)
            metadataBlob = signal.metadata.map { device.makeBlob(bytes: $0) } ?? 0
        }
        self.signal = signal
        hasSignalled = true
        lit = nil
    }

    // MARK: Commits

    /// Whether more than the picture itself has to be set.
    func isFull(_ picture: Picture) -> Bool { lit != picture.way }

    /// Adds what is to be set for a picture: everything, or the one property that changes from picture to picture.
    func add(_ picture: Picture, to request: inout AtomicRequest) throws(SystemError) {
        let film = planes.first { $0.object.id == picture.way.plane } ?? primary
        addOverlay(to: &request, isFull: isFull(picture))
        if let fence = picture.fence { request.set(film.object, "IN_FENCE_FD", UInt64(fence.number)) }
        guard isFull(picture) else {
            request.set(film.object, "FB_ID", UInt64(picture.framebuffer))
            return
        }
        if modeBlob == 0 { modeBlob = device.makeBlob(kernelMode) }
        request.set(connector.object, "CRTC_ID", UInt64(crtc.id))
        if isLinkBad { request.set(connector.object, "link-status", named: "Good") }
        request.set(crtc, "MODE_ID", UInt64(modeBlob))
        request.set(crtc, "ACTIVE", 1)
        addSignal(to: &request)
        for other in planes where other.object.id != film.object.id && other.object.id != overlay?.place.plane {
            if other.object.id == primary.object.id, case .direct = picture.way {
                let black = try blackPicture()
                show(black.framebuffer, PixelRect(black.size), on: other, &request)
            } else {
                request.turnOff(plane: other.object)
            }
        }
        switch picture.way {
        case .direct(let direct):
            request.show(
                picture.framebuffer, on: film.object, crtc: crtc.id, source: direct.placement.source, destination: direct.placement.destination)
            request.set(film.object, "rotation", direct.rotation)
            if let encoding = direct.encoding { request.set(film.object, "COLOR_ENCODING", named: encoding) }
            if let range = direct.range { request.set(film.object, "COLOR_RANGE", named: range) }
            if let zpos = direct.zpos { request.set(film.object, "zpos", zpos) }
        case .copied(let part): show(picture.framebuffer, part, on: film, &request)
        }
    }

    /// The picture is on its way.
    func didShow(_ picture: Picture) {
        lit = picture.way
        overlay?.didCommit()
    }

    // MARK: Over the film

    /// Lays the status over a picture that is shown next; nil: nothing. False when there is no place for it.
    func showStatus(_ status: PlaybackStatus?, over picture: Picture) throws(SystemError) -> Bool {
        let filmZpos = if case .direct(let direct) = picture.way { direct.zpos } else { UInt64?.none }
        let place = OverlayChoice.choose(planes.map(\.offer), film: picture.way.plane ?? primary.object.id, filmZpos: filmZpos)
        if let old = overlay, old.place != place || old.screen != mode.size {
            // The film has moved to its plane.
            overlay = nil
            lit = nil
        }
        if overlay == nil, status != nil { overlay = place.map { KMSOverlay(device, $0, screen: mode.size) } }
        try overlay?.show(status)
        return status == nil || overlay != nil
    }

    /// Nothing lies over the film any more.
    func removeOverlay() {
        if overlay != nil { lit = nil }
        overlay = nil
    }

    private func addOverlay(to request: inout AtomicRequest, isFull: Bool) {
        guard let overlay, let plane = planes.first(where: { $0.object.id == overlay.place.plane }) else { return }
        overlay.add(to: &request, on: plane.object, crtc: crtc.id, isFull: isFull)
    }

    /// Black as large as the screen.
    func blackPicture() throws(SystemError) -> DumbPicture {
        if let black { return black }
        let made = try DumbPicture(device, size: mode.size)
        black = made
        return made
    }

    private func show(_ framebuffer: UInt32, _ part: PixelRect, on plane: KMSPlane, _ request: inout AtomicRequest) {
        request.show(
            framebuffer, on: plane.object, crtc: crtc.id, source: PlanePlacement.Source(part), destination: PixelRect(mode.size))
        request.set(plane.object, "rotation", 1)
    }

    /// Black at the next refresh; no event follows.
    func showBlack() {
        guard lit != nil, let black = try? blackPicture() else { return }
        let picture = Picture(black, part: PixelRect(black.size))
        var request = AtomicRequest()
        guard (try? add(picture, to: &request)) != nil else { return }
        if device.commit(request, []) == 0 { didShow(picture) }
    }

    /// The monitor as it was found: the console's picture, or dark.
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
