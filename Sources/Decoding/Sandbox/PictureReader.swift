internal import Glibc
internal import Media
internal import SurfacePool

/// Has a decoder process copy pictures out of its device's memory that cannot be read in place, for readers on the CPU.
///
/// The process writes into memory made for the purpose. One that does not answer is not asked again; its pictures are then black.
///
/// Thread-safety: all of it.
final class PictureReader: Sendable {
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
            throw SystemError(ETIMEDOUT, "wait for a picture")
        }
        guard case .message(let bytes, _) = try socket.receive() else { throw SystemError(EPIPE, "receive a picture") }
        var reader = WireReader(bytes[...])
        do throws(WireError) {
            let isRead = try reader.takeBool()
            try reader.finish()
            return isRead
        } catch {
            throw SystemError(EPROTO, "understand a picture's message")
        }
    }

    /// 2 seconds, as for decoding a picture.
    private static let patience = HostSpan.seconds(2)
}

/// A surface of a decoder process's device as its memory's owner here.
final class RemotePicture: SurfaceMemoryOwner {
    private let reader: PictureReader
    private let slot: UInt32

    init(reader: PictureReader, slot: UInt32) {
        self.reader = reader
        self.slot = slot
    }

    func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool { unsafe reader.read(slot: slot, layout, into: target) }
}
