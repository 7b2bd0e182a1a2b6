internal import CDRM
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
        /// nil: a converted picture of the screen's size.
        var direct: PlaneChoice.Direct?
        var dumb: DumbPicture?
    }

    let device: KMSDevice
    private(set) var connector: KMSConnector
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
    private(set) var lit: PlaneChoice.Direct??

    /// Chooses a CRTC and a mode; the monitor does not change yet.
    init(_ found: KMSSearch.Found, wish: ModeWish, filmSize: PixelSize, filmRate: Ratio) throws(SinkError) {
        let device = found.device, connector = found.connector
        self.device = device
        self.connector = connector
        let crtcs = device.crtcIdentifiers
        let possible = crtcs.indices.filter { connector.crtcs & (1 << UInt32($0)) != 0 }
        let taken = Set(device.connectors(probing: false).filter { $0.object.id != connector.object.id }.map(\.crtc))
        let index = possible.first { crtcs[$0] == connector.crtc } ?? possible.first { !taken.contains(crtcs[$0]) }
        guard let index else { throw SinkError(.unsupported, "\(device.path) has no CRTC left for \(connector.name).") }
        crtc = device.object(crtcs[index], type: UInt32(DRM_MODE_OBJECT_CRTC))
        planes = device.planes(forCRTC: index)
        guard let primary = planes.first(where: { $0.offer.kind == .primary }) else {
            throw SinkError(.unsupported, "\(device.path) has no plane for \(connector.name).")
        }
        self.primary = primary
        unsafe saved = unsafe drmModeGetCrtc(device.fd, crtcs[index])
        let current = unsafe Self.current(saved)
        guard let chosen = ModeChoice.choose(connector.modes, current: current, wish: wish, filmSize: filmSize, filmRate: filmRate) else {
            if let saved = unsafe saved { unsafe drmModeFreeCrtc(saved) }
            throw Self.noMode(connector)
        }
        mode = connector.modes[chosen]
        kernelMode = connector.kernelModes[chosen]
    }

    deinit {
        device.destroyBlob(modeBlob)
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

    /// Looks whether the monitor is still there, and what it is. False when nothing is connected.
    func probe() -> Bool {
        guard let now = KMSConnector(device, id: connector.object.id, probing: true) else { return false }
        connector = now
        if !now.isConnected { lit = nil }
        return now.isConnected
    }

    /// The link to the monitor broke and the mode has to be set again (`link-status`).
    var isLinkBad: Bool { connector.object.properties["link-status"].map { $0.value == $0.names["Bad"] } ?? false }

    /// Others drive the monitor, or nobody: everything is to be set with the next picture.
    func forget() { lit = nil }

    // MARK: Commits

    /// What is to be set for a picture: everything, or the one property that changes from picture to picture.
    private func request(_ picture: Picture) throws(SystemError) -> (request: AtomicRequest, isFull: Bool) {
        var request = AtomicRequest()
        if let lit, lit == picture.direct {
            let plane = plane(picture.direct)
            request.set(plane.object, "FB_ID", UInt64(picture.framebuffer))
            return (request, false)
        }
        if modeBlob == 0 { modeBlob = device.makeBlob(kernelMode) }
        request.set(connector.object, "CRTC_ID", UInt64(crtc.id))
        if isLinkBad { request.set(connector.object, "link-status", named: "Good") }
        request.set(crtc, "MODE_ID", UInt64(modeBlob))
        request.set(crtc, "ACTIVE", 1)
        let film = plane(picture.direct)
        for other in planes where other.object.id != film.object.id {
            if other.object.id == primary.object.id, picture.direct?.needsBlack == true {
                show(try blackPicture(), on: other, &request)
            } else {
                request.turnOff(plane: other.object)
            }
        }
        if let direct = picture.direct {
            request.show(
                picture.framebuffer, on: film.object, crtc: crtc.id, source: direct.placement.source, destination: direct.placement.destination)
            request.set(film.object, "rotation", direct.rotation)
            if let encoding = direct.encoding { request.set(film.object, "COLOR_ENCODING", named: encoding) }
            if let range = direct.range { request.set(film.object, "COLOR_RANGE", named: range) }
            if let zpos = direct.zpos { request.set(film.object, "zpos", zpos) }
        } else if let dumb = picture.dumb {
            show(dumb, on: film, &request)
        }
        return (request, true)
    }

    private func blackPicture() throws(SystemError) -> DumbPicture {
        if let black { return black }
        let made = try DumbPicture(device, size: mode.size)
        black = made
        return made
    }

    private func plane(_ direct: PlaneChoice.Direct?) -> KMSPlane {
        direct.flatMap { direct in planes.first { $0.object.id == direct.plane } } ?? primary
    }

    private func show(_ picture: DumbPicture, on plane: KMSPlane, _ request: inout AtomicRequest) {
        request.show(
            picture.framebuffer, on: plane.object, crtc: crtc.id, source: PlanePlacement.Source(picture.size), destination: PixelRect(picture.size))
        request.set(plane.object, "rotation", 1)
    }

    /// Whether the device could show the picture: 0, or the errno of its refusal.
    func test(_ picture: Picture) -> Int32 {
        do throws(SystemError) {
            return device.commit(try request(picture).request, [.testOnly, .mayModeset])
        } catch {
            return error.code
        }
    }

    /// Shows the picture at the next refresh; its event follows. 0, or an errno.
    func show(_ picture: Picture) -> Int32 {
        let (request, isFull): (AtomicRequest, Bool)
        do throws(SystemError) { (request, isFull) = try self.request(picture) } catch { return error.code }
        var result: Int32
        if !isFull {
            result = device.commit(request, [.nonBlocking, .event])
        } else {
            // Other planes of the same mode change without the screen going dark, where the device can.
            result = lit == nil ? EINVAL : device.commit(request, [.nonBlocking, .event])
            if result == EINVAL { result = device.commit(request, [.mayModeset, .event]) }
        }
        if result == 0 { lit = .some(picture.direct) }
        return result
    }

    /// Black at the next refresh; no event follows.
    func showBlack() {
        guard lit != nil, let picture = try? blackPicture() else { return }
        if device.commit((try? request(Picture(framebuffer: picture.framebuffer, direct: nil, dumb: picture)).request) ?? AtomicRequest(), []) == 0 {
            lit = .some(nil)
        }
    }

    /// The monitor as it was found: the console's picture, or dark.
    func restore() {
        guard device.isMaster else { return }
        var request = AtomicRequest()
        for plane in planes where plane.object.id != primary.object.id { request.turnOff(plane: plane.object) }
        for plane in planes { request.set(plane.object, "rotation", 1) }
        _ = device.commit(request, [])
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
