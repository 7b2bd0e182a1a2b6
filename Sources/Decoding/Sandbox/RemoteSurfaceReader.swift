internal import Glibc
internal import Media
internal import Sandbox
internal import SurfacePool

/// Has a decoder process copy surfaces of its device that cannot be mapped here, for readers on the CPU.
///
/// The process writes into memory made for the purpose. A process that does not answer is not asked again; its frames are then black.
///
/// Thread-safety: all of it.
final class RemoteSurfaceReader: Sendable {
    private let socket: PacketSocket
    private let isBusy = Monitor(false)

    init(_ socket: PacketSocket) { self.socket = socket }

    func read(slot: UInt32, _ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool {
        isBusy.wait { isBusy -> Void? in
            if isBusy { return nil }
            isBusy = true
            return ()
        }
        defer { isBusy.change { $0 = false } }
        do throws(SystemError) {
            let memory = try SharedBytes(count: layout.byteCount)
            var writer = WireWriter()
            writer.put(slot)
            try socket.send(writer, descriptors: [memory.descriptor.rawValue])
            guard try hasRead() else { return false }
            unsafe target.copyMemory(from: memory.base, byteCount: layout.byteCount)
            return true
        } catch {
            socket.shutDown()
            return false
        }
    }

    private func hasRead() throws(SystemError) -> Bool {
        var waiting = [PollDescriptor(fd: socket.rawValue, interest: .readable)]
        guard try pollDescriptors(&waiting, until: MonotonicClock.shared.now() + Self.patience) > 0 else {
            throw SystemError(ETIMEDOUT, "wait for a surface to be copied")
        }
        guard case .message(let bytes, _) = try socket.receive() else { throw SystemError(EPIPE, "receive a surface") }
        var reader = WireReader(bytes[...])
        do throws(WireError) {
            let isRead = try reader.takeBool()
            try reader.finish()
            return isRead
        } catch {
            throw SystemError(EPROTO, "understand a message about a surface")
        }
    }

    /// 2 seconds, as for decoding a frame.
    private static let patience = HostSpan.seconds(2)
}

/// A surface of a decoder process's device as its memory's owner here.
final class RemoteSurface: SurfaceMemoryOwner {
    private let reader: RemoteSurfaceReader
    private let slot: UInt32
    let deviceNumber: DeviceNumber?

    init(reader: RemoteSurfaceReader, slot: UInt32, deviceNumber: DeviceNumber?) {
        self.reader = reader
        self.slot = slot
        self.deviceNumber = deviceNumber
    }

    func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool { unsafe reader.read(slot: slot, layout, into: target) }
}
