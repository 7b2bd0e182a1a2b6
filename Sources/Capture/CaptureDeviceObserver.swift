public import Dispatch
internal import Glibc
internal import Media

/// Tells which cameras the machine has: at once, and whenever one is plugged in, unplugged, or may be opened now.
///
///     let observer = try CaptureDeviceObserver(on: queue) { devices in menu.show(devices) }
///
/// It watches the folder of the device files and needs no udev, whose changes of their permissions it sees. It ends with the object.
///
/// Thread-safety: all of it. It works on a thread of its own, `cameras`.
public final class CaptureDeviceObserver: Sendable {
    private let bell: EventFD
    private let thread: LoopThread

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - queue: Where the handler runs. A serial one keeps the order.
    ///   - onChange: Called with all cameras that can be used, first with those of now, then with each change. One that is unplugged and plugged in
    ///     again within a moment may be told once.
    /// - Throws: `.system` where the system has no descriptor or no watch left.
    public init(on queue: DispatchQueue, onChange: @escaping @Sendable ([CaptureDevice]) -> Void) throws(CaptureError) {
        let bell: EventFD
        do throws(SystemError) { bell = try EventFD() } catch { throw CaptureError(.system, "\(CaptureDevice.folder): \(error).") }
        guard let watch = DeviceWatch() else {
            throw CaptureError(.system, "\(CaptureDevice.folder): \(SystemError(errno, "watch the device files")).")
        }
        self.bell = bell
        let tell = { @Sendable (devices: [CaptureDevice]) in queue.async { onChange(devices) } }
        thread = LoopThread(name: "cameras") { Self.run(watch, bell, tell) }
    }

    deinit {
        bell.signal()
        thread.join()
    }

    /// 1 s: a driver may not answer yet when its device file comes.
    private static let settling = HostSpan.seconds(1)

    /// Until the bell rings.
    private static func run(_ watch: DeviceWatch, _ bell: EventFD, _ tell: ([CaptureDevice]) -> Void) {
        var told: [CaptureDevice]?, deadline: HostTime?
        while true {
            let devices = CaptureDevice.all()
            if devices != told { tell(devices) }
            told = devices
            var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: watch.fd, interest: .readable)]
            guard let ready = try? pollDescriptors(&descriptors, until: deadline), descriptors[0].ready.isEmpty else { return }
            deadline = ready > 0 ? MonotonicClock.shared.now() + settling : nil
            watch.drain()
        }
    }
}
