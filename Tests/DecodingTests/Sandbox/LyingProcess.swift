import Media
import Sandbox
import SurfacePool
import TestSupport

@testable import Decoding

/// A player's side of a decoder process and that process's, with the test in the place of the process.
struct LyingProcess {
    var process: DecoderProcess
    var work: PacketSocket
    var memory: PacketSocket
    var surfaces: LentSurfaces

    init(maximumCount: Int = 3, maximumByteCount: Int = 1 << 40, drivesDevice: Bool = false) throws {
        let (ours, work) = try PacketSocket.pair(), (ourMemory, memory) = try PacketSocket.pair()
        process = try DecoderProcess(SandboxedProcess(work: ours, memory: ourMemory), drivesDevice: drivesDevice)
        self.work = work
        self.memory = memory
        surfaces = LentSurfaces(allocator: MemfdAllocator(), maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }

    var listener: DecoderListener { listener(deadline: .seconds(60)) }

    func listener(deadline: HostSpan) -> DecoderListener { DecoderListener(process: process, surfaces: surfaces, deadline: deadline) }

    func says(_ answer: DecoderAnswer) throws {
        var writer = WireWriter()
        writer.put(answer)
        try work.send(writer)
    }

    func wishes(_ wish: MemoryWish, descriptors: [Int32] = []) throws {
        var writer = WireWriter()
        writer.put(wish)
        try memory.send(writer, descriptors: descriptors)
    }

    func canUse(_ slot: UInt32, _ visible: PixelRect) -> Bool { if process.use(ofSlot: slot, visible: visible) == nil { false } else { true } }

    /// What the process has been told, after the listener has heard all.
    func hears() throws -> MemoryGrant? {
        switch try memory.receive() {
        case .message(let bytes, _): return try MemoryGrant(bytes[...])
        case .nothing: return nil
        case .end: return nil
        }
    }

    /// Lets the listener hear everything said so far.
    func listen() throws {
        try says(.done(number: 0, bytesWritten: 0, bytesCopied: 0, freed: []))
        _ = try listener.next()
    }
}
