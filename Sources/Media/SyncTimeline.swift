internal import CLinux
internal import Glibc

/// Numbered moments of devices' work (`drm_syncobj`): explicit synchronisation with renderers and compositors that count points on a timeline instead
/// of passing fences.
///
/// Points grow. A point is reached when the fence behind it has signalled, and all before it.
///
/// Thread-safety: all of it. Source: Linux `drm.h`, "DRM synchronisation objects".
public final class SyncTimeline: Sendable {
    private let device: OwnedFD
    private let handle: UInt32

    /// Makes a timeline, or opens one of another program or driver.
    ///
    /// - Parameters:
    ///   - device: An open DRM device, borrowed for the call. Timelines work on every device, whichever made them.
    ///   - syncobj: The timeline's descriptor, borrowed for the call; nil: a new timeline.
    ///
    /// Throws `EOPNOTSUPP` when the device has no timelines whose points can be waited for (Linux 6.6).
    public init(device: Int32, syncobj: Int32? = nil) throws(SystemError) {
        guard clinux_has_timelines(device) != 0 else { throw SystemError(EOPNOTSUPP, "make timelines on this device") }
        let copy = fcntl(device, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "duplicate the device's descriptor") }
        self.device = OwnedFD(adopting: copy)
        handle = if let syncobj { clinux_timeline_open(copy, syncobj) } else { clinux_timeline_create(copy) }
        // Without a handle there is nothing to destroy.
        guard handle != 0 else { throw SystemError(errno, syncobj == nil ? "make a timeline" : "open the timeline") }
    }

    deinit { if handle != 0 { clinux_timeline_destroy(device.rawValue, handle) } }

    /// A descriptor of the timeline, for drivers and compositors to import.
    public func descriptor() throws(SystemError) -> OwnedFD {
        let fd = clinux_timeline_fd(device.rawValue, handle)
        guard fd >= 0 else { throw SystemError(errno, "export the timeline") }
        return OwnedFD(adopting: fd)
    }

    /// The last point that was reached; 0 before the first.
    public var reached: UInt64 { clinux_timeline_query(device.rawValue, handle) }

    /// The point, 1 or more, is reached now.
    public func signal(_ point: UInt64) throws(SystemError) {
        guard point > 0 else { throw SystemError(EINVAL, "signal point 0 of a timeline") }
        guard clinux_timeline_signal(device.rawValue, handle, point) == 0 else { throw SystemError(errno, "signal a point of the timeline") }
    }

    /// The point, 1 or more, is reached when `fence` signals.
    public func signal(_ point: UInt64, after fence: borrowing SyncFile) throws(SystemError) {
        guard point > 0 else { throw SystemError(EINVAL, "signal point 0 of a timeline") }
        guard clinux_timeline_import(device.rawValue, handle, point, fence.rawValue()) == 0 else {
            throw SystemError(errno, "put a fence at a point of the timeline")
        }
    }

    /// A fence that signals when the point is reached. Never blocks.
    ///
    /// The work that reaches the point need not have been submitted. In that case the descriptor is an eventfd: it can be waited for as a `sync_file`
    /// can, but not be put into a DMA-BUF.
    public func fence(at point: UInt64) throws(SystemError) -> SyncFile {
        let file = clinux_timeline_export(device.rawValue, handle, point)
        if file >= 0 { return SyncFile(adopting: OwnedFD(adopting: file)) }
        guard errno == EINVAL else { throw SystemError(errno, "export a point of the timeline") }
        let event = clinux_eventfd()
        guard event >= 0 else { throw SystemError(errno, "create an event descriptor") }
        let signal = SyncFile(adopting: OwnedFD(adopting: event))
        guard clinux_timeline_eventfd(device.rawValue, handle, point, event) == 0 else {
            throw SystemError(errno, "wait for a point of the timeline")
        }
        return signal
    }
}
