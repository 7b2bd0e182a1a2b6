internal import Glibc
internal import Media

/// Tells when device files come, go or change: a camera is plugged in, and its permissions follow a moment later.
///
/// Thread-safety: all of it.
///
/// Needs no udev, so that it also works where only device files are passed in, as in a container.
final class DeviceWatch: Sendable {
    private let descriptor: OwnedFD

    /// Watches the folder of the device files; nil where the system has no watch left (`inotify(7)`).
    init?() {
        let fd = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard fd >= 0 else { return nil }
        descriptor = OwnedFD(adopting: fd)
        let wanted = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
        guard unsafe CaptureDevice.folder.withPath({ unsafe inotify_add_watch(fd, $0, wanted) }) >= 0 else { return nil }
    }

    /// Becomes readable with a change.
    var fd: Int32 { descriptor.rawValue }

    /// Takes all changes so far.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while unsafe read(fd, &bytes, bytes.count) > 0 {}
    }
}
