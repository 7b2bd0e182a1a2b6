internal import CDRM
internal import Glibc

/// Hears when monitors (and when links to them break) or input devices are plugged in and out.
///
/// It listens to udev where that runs, else to the kernel itself, which says the same a little earlier.
///
/// Thread-safety: belongs to one thread. The corresponding C interface is libudev's `udev_monitor`.
@safe
final class HotplugWatch {
    private let udev: OpaquePointer?
    private let monitor: OpaquePointer?

    enum Kind {
        case monitors, input
    }

    init(_ kind: Kind = .monitors) {
        unsafe udev = udev_new()
        let source = unsafe access("/run/udev/control", F_OK) == 0 ? "udev" : "kernel"
        unsafe monitor = unsafe udev.flatMap { unsafe udev_monitor_new_from_netlink($0, source) }
        if let monitor = unsafe monitor {
            switch kind {
            case .monitors: unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, "drm", "drm_minor")
            case .input: unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, "input", nil)
            }
            unsafe udev_monitor_enable_receiving(monitor)
        }
    }

    deinit {
        if let monitor = unsafe monitor { unsafe udev_monitor_unref(monitor) }
        if let udev = unsafe udev { unsafe udev_unref(udev) }
    }

    /// Readable when there is news; -1 where nothing can be heard.
    var fd: Int32 { unsafe monitor.map { unsafe udev_monitor_get_fd($0) } ?? -1 }

    /// Takes what has come; true when devices are to be looked at.
    func hasNews() -> Bool {
        guard let monitor = unsafe monitor else { return false }
        var hasNews = false
        while let device = unsafe udev_monitor_receive_device(monitor) {
            hasNews = true
            unsafe udev_device_unref(device)
        }
        return hasNews
    }
}
