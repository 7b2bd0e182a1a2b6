internal import Glibc
internal import Media

/// A camera of this machine: what it is called and what it offers.
///
/// The Linux counterpart of `AVCaptureDevice`. The value describes; each method opens the device file for as long as it takes, which does not
/// disturb a program that captures from it. Blocks while the driver answers, usually for less than a millisecond.
///
/// Thread-safety: a value.
public struct CaptureDevice: Sendable, Hashable {
    /// The device file: `/dev/video0`. It may name another camera after the next plug.
    public let path: String
    /// The camera's own name, as its driver gives it.
    public let name: String
    /// The kernel's driver: `uvcvideo`.
    public let driver: String
    /// Where it is connected: `usb-0000:00:14.0-3`.
    public let bus: String
    /// The serial number of a USB camera that has one.
    public let serial: String?

    /// Opens a device file and looks what it is.
    /// - Throws: `CaptureError` where there is no such device, the user may not open it, or it captures no video.
    public init(path: String) throws(CaptureError) { self.init(try CameraNode(path)) }

    /// Describes a camera, which need not exist.
    package init(path: String, name: String, driver: String, bus: String, serial: String? = nil) {
        self.path = path
        self.name = name
        self.driver = driver
        self.bus = bus
        self.serial = serial
    }

    init(_ node: CameraNode) {
        path = node.path
        name = node.name
        driver = node.driver
        bus = node.bus
        serial = Self.serial(of: node.path)
    }

    /// A video device of the machine: a camera, or the reason why it cannot be used.
    public struct Finding: Sendable, Hashable {
        /// The device file.
        public var path: String
        /// The camera, or why it cannot be used.
        public var result: Result<CaptureDevice, CaptureError>

        /// Found, and can be used.
        public init(path: String, device: CaptureDevice) { (self.path, result) = (path, .success(device)) }

        /// Found, and cannot be used.
        public init(path: String, obstacle: CaptureError) { (self.path, result) = (path, .failure(obstacle)) }

        /// The camera; nil when it cannot be used.
        public var device: CaptureDevice? { if case .success(let device) = result { device } else { nil } }

        /// Why it cannot be used; nil when it can.
        public var obstacle: CaptureError? { if case .failure(let error) = result { error } else { nil } }
    }

    /// The folder of the device files.
    static let folder = "/dev"

    /// Looks at every `/dev/video*`, in the order of their numbers.
    public static func findings() -> [Finding] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var numbers: [Int] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("video"), let number = Int(name.dropFirst(5)) { numbers.append(number) }
        }
        return numbers.sorted().map { number in
            let path = "\(folder)/video\(number)"
            do throws(CaptureError) { return Finding(path: path, device: try CaptureDevice(path: path)) } catch {
                return Finding(path: path, obstacle: error)
            }
        }
    }

    /// The cameras that can be used.
    public static func all() -> [CaptureDevice] { findings().compactMap(\.device) }

    /// The camera that a person means: a path, a name, a part of a name in any case, or a serial number; nil: the first.
    /// - Throws: `.noDevice`, or the reason why the device of that path cannot be used; `.permission` without a name, where no device can be used and
    ///   the permission for one is refused.
    public static func find(_ name: String?) throws(CaptureError) -> CaptureDevice {
        if let name, name.hasPrefix("/") { return try CaptureDevice(path: name) }
        return try choose(name, from: findings())
    }

    /// The decision of `find`.
    package static func choose(_ name: String?, from findings: [Finding]) throws(CaptureError) -> CaptureDevice {
        let devices = findings.compactMap(\.device)
        let obstacles = findings.compactMap(\.obstacle)
        guard let name else {
            if let first = devices.first { return first }
            if let obstacle = obstacles.first(where: { $0.code == .permission }) { throw obstacle }
            throw CaptureError(
                .noDevice, "There is no camera: \(findings.isEmpty ? "the machine has no /dev/video*" : "no /dev/video* captures video").")
        }
        let wanted = name.lowercased()
        let exact = devices.first { $0.name == name || $0.serial == name }
        if let device = exact ?? devices.first(where: { !wanted.isEmpty && $0.name.lowercased().contains(wanted) }) { return device }
        let others = devices.isEmpty ? "" : "; there is \(devices.map { "\"\($0.name)\"" }.joined(separator: ", "))"
        throw CaptureError(.noDevice, "There is no camera named \"\(name)\"\(others).")
    }

    /// What it offers, in the driver's order.
    public func formats() throws(CaptureError) -> [CaptureFormat] { try CameraNode(path).formats() }

    /// Its settings, in the order of their numbers.
    public func controls() throws(CaptureError) -> [CaptureControl] { try CameraNode(path).controls() }

    /// The present value of a setting.
    public func value(of control: CaptureControl) throws(CaptureError) -> Int64 { try CameraNode(path).value(of: control) }

    /// Changes a setting, also while the camera runs. The driver takes the nearest value that it has.
    public func set(_ control: CaptureControl, to value: Int64) throws(CaptureError) {
        try CameraNode(path).set(control, to: control.nearest(value))
    }

    /// The serial number in sysfs, at the USB device above the interface that makes the video device.
    private static func serial(of path: String) -> String? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let file = unsafe fopen("/sys/class/video4linux/\(name)/device/../serial", "re") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}
