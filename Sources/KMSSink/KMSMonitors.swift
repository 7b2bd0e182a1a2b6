internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

/// The monitors that show one film. All belong to one device, and one commit updates all of them if the device allows that.
///
/// Thread-safety: belongs to the device's thread.
final class KMSMonitors {
    let device: KMSDevice
    let outputs: [KMSOutput]
    private let arrangement: MonitorArrangement
    /// The monitors' sizes when `known` was computed.
    private var sizes: [PixelSize] = []
    private var known: [OutputLayout.Place] = []
    /// Whether one commit updates all monitors; false after the device has refused that.
    private(set) var isJoint = true
    /// Set by tests.
    var probe: (any SinkProbe)?

    /// Assigns CRTCs and planes and chooses modes. The screens do not change yet.
    init(_ found: ConnectorSearch.Found, _ options: KMSSink.Options) throws(SinkError) {
        device = found.device
        arrangement = options.arrangement
        let device = found.device, connectors = found.connectors, crtcs = device.crtcIdentifiers, planes = device.planes()
        let ours = Set(connectors.map(\.object.id))
        func place(_ crtc: UInt32) -> Int? { crtcs.firstIndex(of: crtc) }
        let taken = Set(device.connectors(probing: false).filter { !ours.contains($0.object.id) }.compactMap { place($0.crtc) })
        let shared = CRTCAssignment.assign(
            count: crtcs.count, connectors: connectors.map { CRTCAssignment.Connector(possible: $0.crtcs, current: place($0.crtc)) }, taken: taken,
            planes: planes.map { plane in
                CRTCAssignment.Plane(
                    id: plane.object.id, isPrimary: plane.capabilities.kind == .primary, possible: plane.crtcs,
                    current: place(UInt32(truncatingIfNeeded: plane.object.properties["CRTC_ID"]?.value ?? 0)))
            })
        let names = connectors.map(\.name).joined(separator: " and ")
        let shares: [CRTCAssignment.Pipe]
        switch shared {
        case .success(let found): shares = found
        case .failure(.crtcs): throw SinkError(.unsupported, "\(device.path) has no CRTC left for \(names).")
        case .failure(.planes): throw SinkError(.unsupported, "\(device.path) has no plane for \(names).")
        }
        var outputs: [KMSOutput] = []
        for (connector, share) in zip(connectors, shares) {
            let own = planes.filter { $0.object.id == share.primary || share.others.contains($0.object.id) }
            outputs.append(try KMSOutput(device, connector, crtc: crtcs[share.crtc], own, request: options.mode))
        }
        self.outputs = outputs
    }

    /// The part of the canvas that each monitor shows.
    var places: [OutputLayout.Place] {
        let now = outputs.map(\.mode.size)
        if now != sizes {
            sizes = now
            known = OutputLayout(now, arrangement).places
        }
        return known
    }

    /// The outputs that have a monitor.
    var plugged: [KMSOutput] { outputs.filter(\.isPlugged) }

    /// The state of the device is unknown: the next frame sets every property again.
    func forget() { for output in outputs { output.forget() } }

    /// Shows black at the next refresh; no event follows.
    func showBlack() { for output in outputs { output.showBlack() } }

    /// Restores the monitors to the state in which they were found.
    func restore() { for output in outputs { output.restore() } }

    // MARK: Frames

    /// Outputs, each with the buffer that it shows next.
    typealias Buffers = [(output: KMSOutput, buffer: ScanoutBuffer)]

    /// The result of a commit or of a test.
    struct Outcome {
        /// The outputs that show their buffers, or could.
        var accepted: [KMSOutput] = []
        /// The outputs that cannot show their buffers in this configuration, with the errno.
        var refused: [(output: KMSOutput, code: Int32)] = []
        /// An errno that no configuration causes: a flip is pending, the process is no longer the master, or the device is gone.
        var hindrance: Int32?
    }

    /// Tests whether the device could show the buffers.
    func test(_ buffers: Buffers) -> Outcome {
        if isJoint {
            let code = commit(buffers, [.testOnly, .mayModeset])
            if code == 0 { return Outcome(accepted: buffers.map(\.output)) }
            if Self.concernsAll(code) { return Outcome(hindrance: code) }
            if buffers.count == 1 { return Outcome(refused: [(buffers[0].output, code)]) }
        }
        let outcome = each(buffers) { commit([$0], [.testOnly, .mayModeset]) }
        // The device takes each alone, but not all in one commit.
        if outcome.refused.isEmpty, outcome.hindrance == nil { isJoint = false }
        return outcome
    }

    /// Shows the buffers at the next refresh. A flip event of each accepted output follows.
    func show(_ buffers: Buffers) -> Outcome {
        if isJoint {
            let code = change(buffers)
            if code == 0 { return Outcome(accepted: buffers.map(\.output)) }
            if Self.concernsAll(code) { return Outcome(hindrance: code) }
            if buffers.count == 1 { return Outcome(refused: [(buffers[0].output, code)]) }
            let tried = test(buffers)
            if isJoint { return Outcome(refused: tried.refused, hindrance: tried.hindrance) }
        }
        return each(buffers) { change([$0]) }
    }

    private func each(_ buffers: Buffers, _ body: (Buffers.Element) -> Int32) -> Outcome {
        var outcome = Outcome()
        for buffer in buffers {
            let code = body(buffer)
            if code == 0 {
                outcome.accepted.append(buffer.output)
            } else if Self.concernsAll(code) {
                outcome.hindrance = code
            } else {
                outcome.refused.append((buffer.output, code))
            }
        }
        return outcome
    }

    private func change(_ buffers: Buffers) -> Int32 {
        let isFull = buffers.contains { $0.output.isFull($0.buffer) }, isDark = buffers.contains { $0.output.current == nil }
        // Drivers may change planes without a mode set, so that is tried first.
        var code = isDark ? EINVAL : commit(buffers, [.nonBlocking, .event])
        if code == EINVAL, isFull { code = commit(buffers, [.mayModeset, .event]) }
        if code == 0 { for (output, buffer) in buffers { output.didShow(buffer) } }
        return code
    }

    private static func concernsAll(_ code: Int32) -> Bool { [EBUSY, EACCES, EPERM, ENODEV].contains(code) }

    private func commit(_ buffers: Buffers, _ flags: KMSDevice.CommitFlags) -> Int32 {
        if let probe {
            let code = probe.refusal(ofCommitFor: buffers.count, overlays: buffers.count { $0.buffer.overlay != nil })
            if code != 0 { return code }
        }
        var request = AtomicRequest()
        do throws(SystemError) {
            for (output, buffer) in buffers { try output.add(buffer, to: &request) }
        } catch { return error.code }
        return device.commit(request, flags)
    }
}
