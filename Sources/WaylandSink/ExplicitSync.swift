internal import CLinux
internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Tells the compositor by kernel timelines when a DMA-BUF may be read, and learns by them when it may be written again
/// (`linux-drm-syncobj-v1`).
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class ExplicitSync {
    let manager: OpaquePointer
    fileprivate let device: OwnedFD
    fileprivate let bell: EventFD

    /// nil on a machine without a DRM device that has timelines and tells of them (Linux 6.6).
    ///
    /// - Parameters:
    ///   - manager: The compositor's `wp_linux_drm_syncobj_manager_v1`.
    ///   - bell: Rung when a point is reached.
    init?(_ manager: OpaquePointer, bell: EventFD) {
        guard let device = Self.openDevice() else { return nil }
        unsafe self.manager = manager
        self.device = device
        self.bell = bell
    }

    /// Timelines are the kernel's own, whichever device made them; render nodes first, since they open for everybody.
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

/// The timeline of one buffer: odd points say that it may be read, the even ones after them that it is read no more.
///
/// One a buffer, since buffers are not released in the order in which they were committed.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class BufferTimeline {
    private let sync: ExplicitSync
    private let handle: UInt32
    private let proxy: OpaquePointer
    private var point: UInt64 = 0

    /// nil when the kernel gives none.
    init?(_ sync: ExplicitSync) {
        let handle = clinux_timeline_create(sync.device.rawValue)
        guard handle != 0 else { return nil }
        let fd = clinux_timeline_fd(sync.device.rawValue, handle)
        guard fd >= 0, let proxy = unsafe wp_linux_drm_syncobj_manager_v1_import_timeline(sync.manager, fd) else {
            if fd >= 0 { _ = OwnedFD(adopting: fd) }
            clinux_timeline_destroy(sync.device.rawValue, handle)
            return nil
        }
        // libwayland has made a copy of it.
        _ = OwnedFD(adopting: fd)
        self.sync = sync
        self.handle = handle
        unsafe self.proxy = proxy
    }

    deinit { clinux_timeline_destroy(sync.device.rawValue, handle) }

    /// Takes it from the compositor; what is under way goes on.
    func destroy() { unsafe wp_linux_drm_syncobj_timeline_v1_destroy(proxy) }

    /// Gives the next commit of `surface` its two points.
    ///
    /// - Parameter dmabuf: Lent. What devices still write to it is waited for, by the compositor.
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
        _ = clinux_timeline_eventfd(device, handle, point, sync.bell.rawValue)
    }

    /// Whether the compositor has said that it reads the last commit no more.
    var isReleased: Bool { clinux_timeline_query(sync.device.rawValue, handle) >= point }
}
