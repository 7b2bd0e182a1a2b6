import Glibc
import Media

/// The descriptors that this process has open, for tests in a process of their own that look for leaks.
///
/// Those do not count that Dispatch opens for itself: its manager's whenever that begins, and the files of /proc in which it looks each second how
/// its threads do.
public enum OpenDescriptors {
    public static var count: Int { targets.count }

    /// What they stand for: a path, or a kernel object's name.
    public static var targets: [String] {
        (0..<4096).compactMap { number -> String? in
            var target = [UInt8](repeating: 0, count: 256)
            let length = unsafe target.withUnsafeMutableBytes { unsafe readlink("/proc/self/fd/\(number)", $0.baseAddress!, $0.count) }
            guard length > 0 else { return nil }
            let name = String(decoding: target.prefix(length), as: UTF8.self)
            let isDispatch = ["anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"].contains(name) || name.hasPrefix("/proc/")
            return isDispatch ? nil : name
        }
    }

    /// Whether so many are open now, or soon: another thread, as the test library's own, may hold one for a moment.
    public static func settle(at wanted: Int) -> Bool { Polling.until { count == wanted } }
}
