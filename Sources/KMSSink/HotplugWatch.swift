internal import CDRM
internal import Glibc

/// Reports that monitors or input devices were plugged in or out, and that the link to a monitor failed.
///
/// It listens to udev if that runs, otherwise to the kernel's own events.
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

    /// Readable when an event has come; -1 when events are not available.
    var fd: Int32 { unsafe monitor.map { unsafe udev_monitor_get_fd($0) } ?? -1 }

    /// Reads the events that have come. True when there were any, so that devices must be probed again.
    func hasEvents() -> Bool {
        guard let monitor = unsafe monitor else { return false }
        var hasEvents = false
        while let device = unsafe udev_monitor_receive_device(monitor) {
            hasEvents = true
            unsafe udev_device_unref(device)
        }
        return hasEvents
    }
}
