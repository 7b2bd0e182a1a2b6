internal import CLinux
internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Explicit synchronization by kernel timelines (`linux-drm-syncobj-v1`): tells the compositor when a DMA-BUF may be read, and learns when it may be
/// written again.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class ExplicitSync {
    let manager: OpaquePointer
    fileprivate let device: OwnedFD
    fileprivate let wakeup: EventFD

    /// Nil when no DRM device supports timelines with eventfds (Linux 6.6).
    ///
    /// - Parameters:
    ///   - manager: The compositor's `wp_linux_drm_syncobj_manager_v1`.
    ///   - wakeup: Signalled when a release point is reached.
    init?(_ manager: OpaquePointer, wakeup: EventFD) {
        guard let device = Self.openDevice() else { return nil }
        unsafe self.manager = manager
        self.device = device
        self.wakeup = wakeup
    }

    /// Timelines work on every device, whichever device made them. Render nodes come first because anybody may open them.
    private static func openDevice() -> OwnedFD? {
        for path in (128..<136).map({ "/dev/dri/renderD\($0)" }) + (0..<8).map({ "/dev/dri/card\($0)" }) {
            let fd = unsafe open(path, O_RDWR | O_CLOEXEC)
            guard fd >= 0 else { continue }
            let device = OwnedFD(adopting: fd)
            if clinux_has_timelines(fd) != 0 { return device }
        }
        return nil
    }
}

/// The timeline of one buffer. For each commit it has an odd acquire point and, after it, an even release point.
///
/// Each buffer has its own timeline, because buffers are not released in the order of their commits.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class BufferTimeline {
    private let sync: ExplicitSync
    private let handle: UInt32
    private let proxy: OpaquePointer
    private var point: UInt64 = 0

    /// Nil when the kernel refuses a timeline.
    init?(_ sync: ExplicitSync) {
        let handle = clinux_timeline_create(sync.device.rawValue)
        guard handle != 0 else { return nil }
        let fd = clinux_timeline_fd(sync.device.rawValue, handle)
        guard fd >= 0, let proxy = unsafe wp_linux_drm_syncobj_manager_v1_import_timeline(sync.manager, fd) else {
            if fd >= 0 { _ = OwnedFD(adopting: fd) }
            clinux_timeline_destroy(sync.device.rawValue, handle)
            return nil
        }
        // libwayland has duplicated it.
        _ = OwnedFD(adopting: fd)
        self.sync = sync
        self.handle = handle
        unsafe self.proxy = proxy
    }

    deinit { clinux_timeline_destroy(sync.device.rawValue, handle) }

    /// Destroys the timeline's proxy and handle. Pending points stay valid.
    func destroy() { unsafe wp_linux_drm_syncobj_timeline_v1_destroy(proxy) }

    /// Sets the acquire and release points of the next commit of `surface`.
    ///
    /// - Parameter dmabuf: Borrowed. The compositor waits for devices that still write to it.
    func begin(_ surface: OpaquePointer, dmabuf: Int32) {
        point += 2
        let device = sync.device.rawValue
        var isFenced = false
        if let fence = try? DMABuf.exportSyncFile(dmabuf, for: .read), !fence.isSignalled {
            isFenced = clinux_timeline_import(device, handle, point - 1, fence.rawValue()) == 0
            if !isFenced { _ = fence.wait(until: nil) }
        }
        if !isFenced { _ = clinux_timeline_signal(device, handle, point - 1) }
        unsafe wp_linux_drm_syncobj_surface_v1_set_acquire_point(surface, proxy, UInt32((point - 1) >> 32), UInt32(truncatingIfNeeded: point - 1))
        unsafe wp_linux_drm_syncobj_surface_v1_set_release_point(surface, proxy, UInt32(point >> 32), UInt32(truncatingIfNeeded: point))
        _ = clinux_timeline_eventfd(device, handle, point, sync.wakeup.rawValue)
    }

    /// Whether the release point of the last commit is reached.
    var isReleased: Bool { clinux_timeline_query(sync.device.rawValue, handle) >= point }
}
