internal import Media
internal import Sandbox
internal import SurfacePool

/// A decoder's process and the surfaces that it writes: those lent to it and, where it drives a device, those that it gives.
///
/// What it could write goes back to the pool after the process is known to be dead.
///
/// Thread-safety: `kill`, and the ends of readers' uses, from any thread; the rest from one at a time, which receives.
final class DecoderProcess: Sendable {
    private let process: SandboxedProcess
    /// The process's end of the connection over which it is asked to copy surfaces that cannot be mapped here; nil without a device.
    let surfaceRequests: PacketSocket?
    private let reader: RemoteSurfaceReader?
    /// The device that it drives.
    private let deviceNumber: DeviceNumber?
    private let shared = Monitor(Shared())

    private struct Shared: Sendable {
        var isEnded = false
        /// Surfaces lent to it, by its number for them.
        var lent: [UInt32: Surface] = [:]
        /// Bytes of surfaces that it has given back, whose memory it may have kept.
        var given: [SurfaceIdentity: Int] = [:]
        /// Bytes of those that it has made itself.
        var offeredBytes = 0
        var nextSlot: UInt32 = 0
        /// Readers' uses of its surfaces whose end has not been reported to it.
        var usesOutside = 0
    }

    /// - Parameters:
    ///   - drivesDevice: It decodes on hardware.
    ///   - deviceNumber: Of its render node.
    /// - Throws: when there can be no socket for requests to copy surfaces.
    init(_ process: SandboxedProcess, drivesDevice: Bool = false, deviceNumber: DeviceNumber? = nil) throws(SystemError) {
        let ends = drivesDevice ? try PacketSocket.pair() : nil
        self.process = process
        self.deviceNumber = deviceNumber
        surfaceRequests = ends?.1
        reader = ends.map { RemoteSurfaceReader($0.0) }
    }

    deinit { end() }

    /// Takes the process that was started for this purpose, or starts one.
    /// - Parameter device: The render node that the process is to drive; opened here, because the process cannot.
    static func start(_ program: String, device: String? = nil, takesSpare: Bool = false) throws(DecodingError) -> DecoderProcess {
        let spare = takesSpare ? SpareProcesses.shared.take(SpareProcesses.Key(program: program, device: device)) : nil
        let process: SandboxedProcess
        if let spare { process = spare } else { process = try launch(program, device: device) }
        do throws(SystemError) {
            return try DecoderProcess(process, drivesDevice: device != nil, deviceNumber: device.flatMap { DeviceNumber(path: $0) })
        } catch {
            throw DecodingError(SandboxError(error))
        }
    }

    /// Starts a process ahead of need.
    static func prepare(_ program: String, device: String?) {
        SpareProcesses.shared.prepare(SpareProcesses.Key(program: program, device: device)) { try launch(program, device: device) }
    }

    private static func launch(_ program: String, device: String?) throws(DecodingError) -> SandboxedProcess {
        let node = try device.map { path throws(DecodingError) in try RenderNode.open(path) }
        do throws(SandboxError) {
            guard let node else { return try SandboxedProcess.start(program) }
            return try SandboxedProcess.start(program, environment: RenderNode.environment, granting: node.rawValue)
        } catch {
            throw DecodingError(error)
        }
    }

    var work: PacketSocket { process.work }
    var memory: PacketSocket { process.memory }
    var pid: Int32? { process.pid }
    func allowProcessorTime() { process.allowProcessorTime() }

    /// Makes the process end soon, from any thread; `end` follows on the receiving one.
    func kill() {
        process.kill()
        surfaceRequests?.shutDown()
    }

    /// Ends the process, waits until it is gone, and gives its surfaces back. Idempotent.
    /// - Returns: how it ended by itself; nil when this call ended it.
    @discardableResult
    func end() -> String? {
        let wasEnded = shared.withLock { shared in
            defer { shared.isEnded = true }
            return shared.isEnded
        }
        guard !wasEnded else { return nil }
        let words = process.end()
        surfaceRequests?.shutDown()
        let lent = shared.withLock { shared in
            defer { shared.lent = [:] }
            return shared.lent
        }
        for surface in lent.values { surface.endWriting() }
        return words
    }

    // MARK: Surfaces

    /// Lends a surface that the pool has handed out for writing; the process maps it from here on.
    func lend(_ surface: Surface) throws(SystemError) {
        let slot = shared.withLock { shared -> UInt32? in
            guard !shared.isEnded else { return nil }
            defer { shared.nextSlot += 1 }
            shared.lent[shared.nextSlot] = surface
            // It has it again.
            shared.given[surface.identity] = nil
            return shared.nextSlot
        }
        guard let slot else { return surface.endWriting() }
        var writer = WireWriter()
        writer.put(.granted(slot: slot, kind: surface.memoryKind))
        var descriptors = [surface.fd]
        if surface.isDMABuf, let memfd = surface.memfd { descriptors.append(memfd) }
        try memory.send(writer, descriptors: descriptors)
    }

    /// Takes memory that the process's driver has made for frames, after checking the descriptor against what the process says about it.
    /// - Throws: when they differ, or it is more than the limits allow.
    func adopt(
        _ descriptor: consuming OwnedFD, slot: UInt32, _ layout: SurfaceLayout, _ limits: (count: Int, byteCount: Int, keptByteCount: Int)
    ) throws(ProcessEnd) {
        guard let reader else { throw ProcessEnd("gives memory, which only a driver may") }
        let isWithin = shared.withLock { shared in
            // Surfaces of the previous size may still be held while those of the next are made.
            let room = 2 * limits.byteCount
            guard shared.lent[slot] == nil, shared.lent.count < 2 * limits.count,
                layout.byteCount <= min(limits.byteCount, room - shared.offeredBytes)
            else { return false }
            shared.offeredBytes += layout.byteCount
            return true
        }
        guard isWithin else { throw ProcessEnd("gives more memory than it may have") }
        do throws(SurfaceError) {
            let surface = try Surface.adopting(descriptor, layout, owner: RemoteSurface(reader: reader, slot: slot, deviceNumber: deviceNumber))
            shared.withLock { $0.lent[slot] = surface }
        } catch {
            throw ProcessEnd("gives memory that is not what it says: \(error)")
        }
    }

    /// It decodes on hardware.
    var drivesDevice: Bool { reader != nil }

    /// Surfaces that it has made itself; nil for a process that is lent them.
    func offered(capacity: Int) -> SurfacePoolStatistics? {
        guard reader != nil else { return nil }
        return shared.withLock { shared in
            SurfacePoolStatistics(
                capacity: capacity, allocated: shared.lent.count, inUse: min(shared.usesOutside, shared.lent.count), byteCount: shared.offeredBytes,
                allocations: shared.lent.count)
        }
    }

    /// A reader's use of the surface that the process calls `slot`; nil when it has no such surface, or `visible` lies outside of it.
    func use(ofSlot slot: UInt32, visible: PixelRect) -> SurfaceUse? {
        let surface = shared.withLock { shared -> Surface? in
            guard !shared.isEnded, let surface = shared.lent[slot] else { return nil }
            shared.usesOutside += 1
            return surface
        }
        guard let surface else { return nil }
        let note = ReleaseNote(process: self, slot: slot)
        let size = surface.layout.size
        guard visible.width > 0, visible.height > 0, visible.x + visible.width <= size.width, visible.y + visible.height <= size.height else {
            note.tell()
            return nil
        }
        return unsafe surface.share(keeping: Unmanaged.passRetained(note).toOpaque()) { context in
            unsafe Unmanaged<ReleaseNote>.fromOpaque(context).takeRetainedValue().tell()
        }
    }

    /// Tells the process when the last reader of a surface has ended.
    private final class ReleaseNote: Sendable {
        let process: DecoderProcess
        let slot: UInt32
        init(process: DecoderProcess, slot: UInt32) {
            self.process = process
            self.slot = slot
        }

        func tell() {
            let isOver = process.shared.withLock { shared in
                shared.usesOutside -= 1
                return shared.isEnded
            }
            guard !isOver else { return }
            var writer = WireWriter()
            writer.put(.released(slot: slot))
            // A process that does not read its messages is useless; the thread that waits for its answers notices the end.
            do throws(SystemError) { try process.memory.send(writer) } catch { process.kill() }
        }
    }

    /// The process has unmapped a surface. False when it had no such surface.
    func takeBack(slot: UInt32) -> Bool {
        let surface = shared.withLock { shared in
            let surface = shared.lent.removeValue(forKey: slot)
            if reader != nil {
                if let surface { shared.offeredBytes -= surface.layout.byteCount }
            } else if let surface {
                shared.given[surface.identity] = surface.layout.byteCount
            }
            return surface
        }
        guard let surface else { return false }
        surface.endWriting()
        return true
    }

    /// Memory that was lent to it and that it has given back since. Whether it still holds a descriptor of it cannot be seen from here.
    var givenByteCount: Int { shared.withLock { $0.given.values.reduce(0, +) } }

    /// Readers hold surfaces, so that the process may have to wait for one.
    var hasReaders: Bool { shared.withLock { $0.usesOutside > 0 } }

    /// Readers hold more than the frame on the display, which gives that one back only for the next.
    var hasSeveralUses: Bool { shared.withLock { $0.usesOutside > 1 } }

    /// Waits until one of the sockets has something; see `SandboxedProcess.wait`.
    func wait(for sockets: inout [PollDescriptor], until limit: HostTime) throws(ProcessEnd) -> Bool {
        try process.wait(for: &sockets, until: limit)
    }
}
