internal import Media
internal import Sandbox
internal import SurfacePool

/// In a decoder process that drives hardware: the driver's surfaces that the player has been given, each once.
///
/// Thread-safety: all of it.
final class OfferedSurfaces: Sendable {
    private struct State: Sendable {
        var slots: [SurfaceIdentity: UInt32] = [:]
        var surfaces: [UInt32: Surface] = [:]
        var nextSlot: UInt32 = 0
    }

    private let socket: PacketSocket
    private let state = Monitor(State())

    /// - Parameter socket: the memory socket.
    init(socket: PacketSocket) { self.socket = socket }

    /// The player's number for a surface that the caller has a use of; the player gets one that it has not seen.
    func slot(of surface: Surface) throws(SystemError) -> UInt32 {
        let (slot, isNew) = state.withLock { state in
            if let slot = state.slots[surface.identity] { return (slot, false) }
            defer { state.nextSlot &+= 1 }
            state.slots[surface.identity] = state.nextSlot
            state.surfaces[state.nextSlot] = surface
            return (state.nextSlot, true)
        }
        guard isNew else { return slot }
        var writer = WireWriter()
        writer.put(.offer(slot: slot, surface.layout))
        try socket.send(writer, descriptors: [surface.fd], waits: true)
        surface.onGone { [self] in withdraw($0) }
        return slot
    }

    private func withdraw(_ identity: SurfaceIdentity) {
        let slot = state.withLock { state -> UInt32? in
            guard let slot = state.slots.removeValue(forKey: identity) else { return nil }
            state.surfaces[slot] = nil
            return slot
        }
        guard let slot else { return }
        var writer = WireWriter()
        writer.put(.gone(slot: slot))
        // A player that has gone is noticed elsewhere.
        try? socket.send(writer, waits: true)
    }

    /// Serves the player's requests for frames that it cannot map, until the player disconnects.
    func serve(_ wishes: PacketSocket) throws {
        while true {
            switch try wishes.receive() {
            case .end: return
            case .nothing:
                var waiting = [PollDescriptor(fd: wishes.rawValue, interest: .readable)]
                _ = try pollDescriptors(&waiting)
            case .message(let bytes, var descriptors):
                guard let target = descriptors.takeFirst() else { return }
                var reader = WireReader(bytes[...]), writer = WireWriter()
                let slot = try reader.take(UInt32.self)
                writer.put(try read(slot, into: SharedBytes(writing: target)))
                try wishes.send(writer, waits: true)
            }
        }
    }

    private func read(_ slot: UInt32, into memory: SharedBytes) -> Bool {
        guard let surface = state.withLock({ $0.surfaces[slot] }), memory.count >= surface.layout.byteCount else { return false }
        return unsafe surface.owner?.read(surface.layout, into: memory.base) ?? false
    }
}
