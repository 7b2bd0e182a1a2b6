import Foundation
import Glibc

/// The socket of a service manager, which hears what a service tells it: `sd_notify(3)`.
public final class NotifySocket {
    /// For `NOTIFY_SOCKET`.
    public let path = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString.prefix(8))").path
    private let descriptor: Int32

    public init?() {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let bound = unsafe withUnsafePointer(to: address) { [descriptor] in
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        guard bound == 0 else { return nil }
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// What has been told since this was asked last.
    public func heard() -> [String] {
        var words: [String] = [], buffer = [UInt8](repeating: 0, count: 256)
        while case let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            words.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return words
    }
}
