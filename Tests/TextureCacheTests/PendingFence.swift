import Foundation
import FrameExport
import Glibc
import Media
import SurfacePool
import TestSupport

/// A kernel fence that signals when the test says so: one of vgem, the kernel's graphics driver without a device. It signals by itself, with
/// an error, after ten seconds.
final class PendingFence: @unchecked Sendable {
    /// The device's node, said by the process that loaded its module.
    static let variable = "PLAYER_VGEM"
    static let node = ProcessInfo.processInfo.environment[variable]

    private let card: OwnedFD
    private let number: UInt32
    private let memory: OwnedFD

    init() throws {
        let fd = unsafe open(try Self.need(Self.node), O_RDWR | O_CLOEXEC)
        guard fd >= 0 else { throw SystemError(errno, "open vgem") }
        card = OwnedFD(adopting: fd)
        // struct drm_mode_create_dumb: height, width, bits a pixel, flags, handle, pitch, size.
        var dumb: [UInt32] = [16, 16, 32, 0, 0, 0, 0, 0]
        try Self.call(fd, 0xc020_64b2, &dumb)
        // struct drm_prime_handle: handle, flags, descriptor.
        var prime: [UInt32] = [dumb[4], UInt32(O_CLOEXEC), 0]
        try Self.call(fd, 0xc00c_642d, &prime)
        memory = OwnedFD(adopting: Int32(bitPattern: prime[2]))
        // struct drm_vgem_fence_attach: handle, flags (1: of a writer), the fence's number.
        var attach: [UInt32] = [dumb[4], 1, 0, 0]
        try Self.call(fd, 0xc010_6441, &attach)
        number = attach[2]
    }

    /// Makes readers of the DMA-BUF wait for the fence.
    func guardReaders(of fd: Int32) throws {
        let fence = try DMABuf.exportSyncFile(memory.rawValue, for: .read)
        guard !fence.isSignalled else { throw SystemError(EINVAL, "make a fence that waits") }
        try DMABuf.importSyncFile(fd, fence, as: .write)
    }

    func signal() throws {
        var signal: [UInt32] = [number, 0]
        try Self.call(card.rawValue, 0x4008_6442, &signal)
    }

    private static func call(_ fd: Int32, _ request: UInt, _ words: inout [UInt32]) throws {
        let result = unsafe words.withUnsafeMutableBytes { unsafe ioctl(fd, request, $0.baseAddress!) }
        guard result == 0 else { throw SystemError(errno, "ask vgem (0x\(String(request, radix: 16)))") }
    }

    private static func need(_ node: String?) throws -> String {
        guard let node else { throw SystemError(ENODEV, "find vgem: \(variable) names no device") }
        return node
    }
}

extension Still {
    /// The next picture, whose readers have to wait, and what ends the wait: it paints the picture that they must see.
    func pending() throws -> (held: HeldFrame, finish: LoopThread) {
        let fence = try PendingFence(), held = try held(bars: true)
        let fd = held.withFrame { $0.fd } ?? -1
        try fence.guardReaders(of: fd)
        let size = pool.layout.byteCount, noise = whole
        bytes = unsafe noise.withUnsafeBytes { unsafe PictureBytes(layout: pool.layout, visible: visible, memory: $0).bytes }
        let finish = LoopThread(name: "test-device") {
            // Long enough for a reader that does not wait to see the old picture.
            usleep(300_000)
            if let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), unsafe memory != MAP_FAILED {
                unsafe UnsafeMutableRawBufferPointer(start: memory, count: size).copyBytes(from: noise)
                unsafe munmap(memory, size)
            }
            try? fence.signal()
        }
        return (held, finish)
    }
}
