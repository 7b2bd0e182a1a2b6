internal import CV4L2
internal import Media

/// The right to change a camera while no other program does; see `CaptureDevice.withLock`.
public struct CaptureDeviceLock: ~Copyable, Sendable {
    private let node: CameraNode

    /// V4L2 lets go of the right when the device file is closed.
    init(_ path: String) throws(CaptureError) {
        let node = try CameraNode(path)
        var highest: Int32 = 0
        guard unsafe cv4l2_get_priority(node.fd, &highest) == 0 else { throw node.failure("lock the camera") }
        guard Int(highest) < CV4L2_PRIORITY_RECORD else {
            throw CaptureError(.busy, "\(path): another program has locked this camera.")
        }
        guard cv4l2_set_priority(node.fd, Int32(CV4L2_PRIORITY_RECORD)) == 0 else { throw node.failure("lock the camera") }
        self.node = node
    }

    /// The present value of a setting.
    public borrowing func value(of control: CaptureControl) throws(CaptureError) -> Int64 { try node.value(of: control) }

    /// Changes a setting. The driver takes the nearest value that it has.
    public borrowing func set(_ control: CaptureControl, to value: Int64) throws(CaptureError) { try node.set(control, to: control.nearest(value)) }
}

extension CaptureDevice {
    /// Changes several settings that belong together, such as automatic exposure and its time, while no other program changes any.
    ///
    ///     try device.withLock { lock in
    ///         try lock.set(automatic, to: 1)
    ///         try lock.set(exposure, to: 100)
    ///     }
    ///
    /// The counterpart of `lockForConfiguration` of `AVCaptureDevice`; V4L2's is `VIDIOC_S_PRIORITY`. Frames go on meanwhile. Everybody else who
    /// changes the camera, starts it or stops it is refused, sessions and `set` of this program too: so `body` should be short.
    ///
    /// - Throws: `.busy` when another program has locked the camera; what `body` throws.
    public func withLock<R>(_ body: (borrowing CaptureDeviceLock) throws(CaptureError) -> R) throws(CaptureError) -> R {
        try body(try CaptureDeviceLock(path))
    }
}
