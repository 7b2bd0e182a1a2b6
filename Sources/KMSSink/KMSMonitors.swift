internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

/// The monitors that show one film: all of one device, changed by one commit where the device allows that.
///
/// Thread-safety: belongs to the device's thread.
final class KMSMonitors {
    let device: KMSDevice
    let outputs: [KMSOutput]
    private let arrangement: MonitorArrangement
    /// What the monitors' sizes were when `places` was made.
    private var sizes: [PixelSize] = []
    private var known: [MonitorWall.Place] = []
    /// Whether one commit changes all of them; not where the device has refused that.
    private(set) var isJoint = true
    /// Of a test.
    var witness: (any PictureWitness)?

    /// Shares CRTCs and planes out and chooses modes; nothing on the screens changes yet.
    init(_ found: KMSSearch.Found, _ options: KMSSink.Options) throws(SinkError) {
        device = found.device
        arrangement = options.arrangement
        let device = found.device, connectors = found.connectors, crtcs = device.crtcIdentifiers, planes = device.planes()
        let ours = Set(connectors.map(\.object.id))
        func place(_ crtc: UInt32) -> Int? { crtcs.firstIndex(of: crtc) }
        let taken = Set(device.connectors(probing: false).filter { !ours.contains($0.object.id) }.compactMap { place($0.crtc) })
        let shared = KMSAllotment.share(
            count: crtcs.count, sockets: connectors.map { KMSAllotment.Socket(possible: $0.crtcs, current: place($0.crtc)) }, taken: taken,
            planes: planes.map { plane in
                KMSAllotment.Plane(
                    id: plane.object.id, isPrimary: plane.offer.kind == .primary, possible: plane.crtcs,
                    current: place(UInt32(truncatingIfNeeded: plane.object.properties["CRTC_ID"]?.value ?? 0)))
            })
        let names = connectors.map(\.name).joined(separator: " and ")
        let shares: [KMSAllotment.Share]
        switch shared {
        case .success(let found): shares = found
        case .failure(.crtcs): throw SinkError(.unsupported, "\(device.path) has no CRTC left for \(names).")
        case .failure(.planes): throw SinkError(.unsupported, "\(device.path) has no plane for \(names).")
        }
        var outputs: [KMSOutput] = []
        for (connector, share) in zip(connectors, shares) {
            let own = planes.filter { $0.object.id == share.primary || share.others.contains($0.object.id) }
            outputs.append(try KMSOutput(device, connector, crtc: crtcs[share.crtc], own, wish: options.mode))
        }
        self.outputs = outputs
    }

    /// What each monitor shows of what the film is fitted to.
    var places: [MonitorWall.Place] {
        let now = outputs.map(\.mode.size)
        if now != sizes {
            sizes = now
            known = MonitorWall(now, arrangement).places
        }
        return known
    }

    /// Those with a monitor in them.
    var plugged: [KMSOutput] { outputs.filter(\.isPlugged) }

    /// Others drive the monitors, or nobody: everything is to be set with the next picture.
    func forget() { for output in outputs { output.forget() } }

    /// Black at the next refresh; no event follows.
    func showBlack() { for output in outputs { output.showBlack() } }

    /// The monitors as they were found.
    func restore() { for output in outputs { output.restore() } }

    // MARK: Pictures

    /// A picture for each of some monitors.
    typealias Pictures = [(output: KMSOutput, picture: KMSOutput.Picture)]

    /// What became of a commit.
    struct Outcome {
        /// The pictures are on their way to these monitors, or could be.
        var accepted: [KMSOutput] = []
        /// These cannot show theirs in this way: the errno says why.
        var refused: [(output: KMSOutput, code: Int32)] = []
        /// Nobody's picture is to blame: a flip is under way, the right to commit or the device is gone.
        var hindrance: Int32?
    }

    /// Asks whether the device could show the pictures.
    func test(_ pictures: Pictures) -> Outcome {
        if isJoint {
            let code = commit(pictures, [.testOnly, .mayModeset])
            if code == 0 { return Outcome(accepted: pictures.map(\.output)) }
            if Self.concernsAll(code) { return Outcome(hindrance: code) }
            if pictures.count == 1 { return Outcome(refused: [(pictures[0].output, code)]) }
        }
        let outcome = each(pictures) { commit([$0], [.testOnly, .mayModeset]) }
        // Each alone, and not all at once.
        if outcome.refused.isEmpty, outcome.hindrance == nil { isJoint = false }
        return outcome
    }

    /// Shows the pictures at the next refresh; an event of each monitor that accepts follows.
    func show(_ pictures: Pictures) -> Outcome {
        if isJoint {
            let code = change(pictures)
            if code == 0 { return Outcome(accepted: pictures.map(\.output)) }
            if Self.concernsAll(code) { return Outcome(hindrance: code) }
            if pictures.count == 1 { return Outcome(refused: [(pictures[0].output, code)]) }
            let tried = test(pictures)
            if isJoint { return Outcome(refused: tried.refused, hindrance: tried.hindrance) }
        }
        return each(pictures) { change([$0]) }
    }

    private func each(_ pictures: Pictures, _ body: (Pictures.Element) -> Int32) -> Outcome {
        var outcome = Outcome()
        for picture in pictures {
            let code = body(picture)
            if code == 0 {
                outcome.accepted.append(picture.output)
            } else if Self.concernsAll(code) {
                outcome.hindrance = code
            } else {
                outcome.refused.append((picture.output, code))
            }
        }
        return outcome
    }

    private func change(_ pictures: Pictures) -> Int32 {
        let isFull = pictures.contains { $0.output.isFull($0.picture) }, isDark = pictures.contains { $0.output.lit == nil }
        // Other planes of the same mode change without the screen going dark, where the device can.
        var code = isDark ? EINVAL : commit(pictures, [.nonBlocking, .event])
        if code == EINVAL, isFull { code = commit(pictures, [.mayModeset, .event]) }
        if code == 0 { for (output, picture) in pictures { output.didShow(picture) } }
        return code
    }

    private static func concernsAll(_ code: Int32) -> Bool { [EBUSY, EACCES, EPERM, ENODEV].contains(code) }

    private func commit(_ pictures: Pictures, _ flags: KMSDevice.CommitFlags) -> Int32 {
        if let witness {
            let code = witness.refusal(ofCommitFor: pictures.count)
            if code != 0 { return code }
        }
        var request = AtomicRequest()
        do throws(SystemError) {
            for (output, picture) in pictures { try output.add(picture, to: &request) }
        } catch { return error.code }
        return device.commit(request, flags)
    }
}
