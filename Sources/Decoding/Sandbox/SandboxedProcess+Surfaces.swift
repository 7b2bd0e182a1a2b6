internal import Media
internal import SurfacePool

/// The surfaces that a decoder process writes: those lent to it and, where it drives a device, those that it gives.
extension SandboxedProcess {
    /// Lends a surface that the pool has handed out for writing; the process maps it from here on.
    func lend(_ surface: Surface) throws(SystemError) {
        let slot = shared.withLock { shared -> UInt32? in
            guard !shared.isEnded else { return nil }
            defer { shared.nextSlot += 1 }
            shared.lent[shared.nextSlot] = surface
            return shared.nextSlot
        }
        guard let slot else { return surface.endWriting() }
        var writer = WireWriter()
        writer.put(.granted(slot: slot, kind: surface.memoryKind))
        var descriptors = [surface.fd]
        if surface.isDMABuf, let memfd = surface.memfd { descriptors.append(memfd) }
        try memory.send(writer, descriptors: descriptors)
    }

    /// Takes memory that the process has made for pictures: its word about it is held against the descriptor.
    /// - Throws: when it is not what it is said to be, or more than the limits allow.
    func adopt(
        _ descriptor: consuming OwnedFD, slot: UInt32, _ layout: SurfaceLayout, _ limits: (count: Int, byteCount: Int)
    ) throws(ProcessEnd) {
        guard let reader else { throw ProcessEnd("gives memory, which only a driver may") }
        let isWithin = shared.withLock { shared in
            // Pictures of a size that has gone out of use may be held while those of the next are made.
            let room = 2 * max(limits.byteCount, layout.byteCount)
            guard shared.lent[slot] == nil, shared.lent.count < 2 * limits.count, layout.byteCount <= room - shared.offeredBytes else { return false }
            shared.offeredBytes += layout.byteCount
            return true
        }
        guard isWithin else { throw ProcessEnd("gives more memory than it may have") }
        do throws(SurfaceError) {
            let surface = try Surface.adopting(descriptor, layout, owner: RemotePicture(reader: reader, slot: slot))
            shared.withLock { $0.lent[slot] = surface }
        } catch {
            throw ProcessEnd("gives memory that is none: \(error)")
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

    /// A reader's use of the picture that the process says lies in `slot`; nil when it was lent no such thing.
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

    /// Tells the process when the last reader of a picture has ended.
    private final class ReleaseNote: Sendable {
        let process: SandboxedProcess
        let slot: UInt32
        init(process: SandboxedProcess, slot: UInt32) {
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
            // One that does not read its messages is no use any more; its end is noticed where its answers are waited for.
            do throws(SystemError) { try process.memory.send(writer) } catch { process.kill() }
        }
    }

    /// The process has unmapped a surface. False when it was lent no such thing.
    func takeBack(slot: UInt32) -> Bool {
        let surface = shared.withLock { shared in
            let surface = shared.lent.removeValue(forKey: slot)
            if reader != nil, let surface { shared.offeredBytes -= surface.layout.byteCount }
            return surface
        }
        guard let surface else { return false }
        surface.endWriting()
        return true
    }

    /// Readers hold pictures, so that the process may have to wait for one.
    var hasReaders: Bool { shared.withLock { $0.usesOutside > 0 } }
}
