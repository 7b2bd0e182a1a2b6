internal import Foundation
internal import Glibc
public import Media

/// A kernel fence that signals when the test says so: one of vgem, the kernel's graphics driver without a device. The kernel signals it with
/// an error after ten seconds, which a busy machine may need: a test that was too slow tries again (`DelayedWrite`).
public final class PendingFence: @unchecked Sendable {
    /// The device's node, said by the process that loaded its module.
    public static let variable = "PLAYER_VGEM"
    public static let node = ProcessInfo.processInfo.environment[variable]

    private let card: OwnedFD
    private let number: UInt32
    private let memory: OwnedFD

    /// Loads the device's module, as root in the lab's virtual machine; its node.
    public static func load() throws -> String {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "modprobe vgem && lab-card vgem"]
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// - Parameter node: The device's; nil: what the environment says.
    public init(node: String? = PendingFence.node) throws {
        let fd = unsafe open(try Self.need(node), O_RDWR | O_CLOEXEC)
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

    /// The fence, which has not signalled.
    public func fence() throws -> SyncFile {
        let fence = try DMABuf.exportSyncFile(memory.rawValue, for: .read)
        guard !fence.isSignalled else { throw SystemError(EINVAL, "make a fence that waits") }
        return fence
    }

    /// Makes readers of the DMA-BUF wait for the fence.
    public func guardReaders(of fd: Int32) throws { try DMABuf.importSyncFile(fd, try fence(), as: .write) }

    /// Signals the fence. False when the kernel has done so before, because the ten seconds had passed.
    @discardableResult public func signal() throws -> Bool {
        var signal: [UInt32] = [number, 0]
        do {
            try Self.call(card.rawValue, 0x4008_6442, &signal)
            return true
        } catch let error as SystemError {
            guard error.code == ETIMEDOUT else { throw error }
            return false
        }
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
