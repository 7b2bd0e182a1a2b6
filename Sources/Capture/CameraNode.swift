internal import CV4L2
internal import Glibc
internal import Media

/// An open device file of a camera: its ioctls, with errors as sentences.
///
/// Thread-safety: any thread; the kernel runs one call after the other.
final class CameraNode: Sendable {
    let path: String
    let name, driver, bus: String
    let isMultiplanar: Bool
    private let descriptor: OwnedFD

    /// Opens the device.
    /// - Throws: `.noDevice`, `.permission`, `.notACamera` for a device that captures no video or does so by other means than buffers.
    init(_ path: String) throws(CaptureError) {
        let fd = unsafe path.withPath { unsafe cv4l2_open($0) }
        guard fd >= 0 else { throw .device(path, errno, "open the camera") }
        let descriptor = OwnedFD(adopting: fd)
        var identity = cv4l2_identity()
        guard unsafe cv4l2_query(fd, &identity) == 0 else {
            throw CaptureError(.notACamera, "\(path) is not a video device.")
        }
        name = Self.text(&identity.card)
        driver = Self.text(&identity.driver)
        bus = Self.text(&identity.bus)
        isMultiplanar = identity.is_multiplanar != 0
        guard identity.captures != 0, identity.streams != 0 else {
            throw CaptureError(.notACamera, "\(path) captures no video: it is \(name).")
        }
        self.path = path
        self.descriptor = descriptor
    }

    var fd: Int32 { descriptor.rawValue }
    var planarity: Int32 { isMultiplanar ? 1 : 0 }

    /// The text of a C array that ends with a zero.
    static func text<T>(_ array: inout T) -> String {
        unsafe withUnsafeBytes(of: &array) { bytes in unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The error for a call that has failed just now.
    func failure(_ action: String) -> CaptureError { .device(path, errno, action) }

    // MARK: What it offers

    /// The size of the frames that are set now; nil where the driver says none.
    var size: PixelSize? {
        var format = cv4l2_format()
        guard unsafe cv4l2_get_format(fd, planarity, &format) == 0, format.width > 0, format.height > 0 else { return nil }
        return PixelSize(width: Int(format.width), height: Int(format.height) * (Int(format.field) == CV4L2_FIELD_ALTERNATE ? 2 : 1))
    }

    /// The formats in the driver's order, with the sizes and rates of one of them or of all. A driver with many formats takes a while for all.
    func formats(sizesOf code: FourCC? = nil) -> [CaptureFormat] {
        Self.all { index in
            var found = cv4l2_format_name()
            guard unsafe cv4l2_format_at(fd, planarity, index, &found) == 0 else { return nil }
            let its = FourCC(rawValue: found.fourcc)
            return CaptureFormat(code: its, name: Self.text(&found.name), sizes: code == nil || code == its ? sizes(of: its.rawValue) : [])
        }
    }

    private func sizes(of code: UInt32) -> [CaptureFormat.Sizes] {
        Self.all { index in
            var found = cv4l2_sizes()
            guard unsafe cv4l2_sizes_at(fd, code, index, &found) == 0 else { return nil }
            let rates = rates(of: code, found.max_width, found.max_height)
            return CaptureFormat.Sizes(
                smallest: PixelSize(width: Int(found.min_width), height: Int(found.min_height)),
                largest: PixelSize(width: Int(found.max_width), height: Int(found.max_height)),
                step: PixelSize(width: Int(found.step_width), height: Int(found.step_height)), rates: rates)
        }
    }

    private func rates(of code: UInt32, _ width: UInt32, _ height: UInt32) -> [CaptureFormat.Rates] {
        let rates = Self.all { index -> CaptureFormat.Rates? in
            var found = cv4l2_intervals()
            guard unsafe cv4l2_intervals_at(fd, code, width, height, index, &found) == 0 else { return nil }
            return CaptureFormat.Rates(
                lowest: Self.rate(found.max_numerator, found.max_denominator), highest: Self.rate(found.min_numerator, found.min_denominator))
        }
        return rates.sorted { $0.highest.doubleValue > $1.highest.doubleValue }
    }

    /// Frames a second for the driver's seconds a frame.
    static func rate(_ numerator: UInt32, _ denominator: UInt32) -> Ratio { Ratio(Int32(clamping: denominator), Int32(clamping: numerator)) }

    /// What `body` finds at 0, 1, 2 … until it finds nothing. A driver that never ends is believed for 1000 entries.
    private static func all<T>(_ body: (UInt32) -> T?) -> [T] {
        var found: [T] = []
        for index in 0..<UInt32(1000) {
            guard let item = body(index) else { break }
            found.append(item)
        }
        return found
    }

    // MARK: Controls

    /// Every control that holds one number and is not switched off.
    func controls() -> [CaptureControl] {
        var last: UInt32 = 0
        let controls = Self.all { _ -> CaptureControl?? in
            var found = cv4l2_control()
            guard unsafe cv4l2_control_after(fd, last, &found) == 0, found.id > last else { return nil }
            last = found.id
            return .some(control(&found))
        }
        return controls.compactMap(\.self)
    }

    private func control(_ found: inout cv4l2_control) -> CaptureControl? {
        guard Int(found.flags) & CV4L2_CONTROL_DISABLED == 0, let kind = Self.kinds[Int(found.type)] else { return nil }
        let isNumbers = Int(found.type) == CV4L2_INTEGER_MENU
        let range = found.minimum...max(found.minimum, found.maximum)
        let isReadOnly = Int(found.flags) & CV4L2_CONTROL_READ_ONLY != 0
        return CaptureControl(
            identifier: found.id, name: Self.text(&found.name), kind: kind, range: range, step: Int64(clamping: max(found.step, 1)),
            defaultValue: found.fallback, items: kind == .menu ? items(of: found.id, range, isNumbers) : [], isWritable: !isReadOnly,
            isInactive: Int(found.flags) & CV4L2_CONTROL_INACTIVE != 0, isWide: Int(found.type) == CV4L2_INTEGER64)
    }

    private static let kinds: [Int: CaptureControl.Kind] = [
        CV4L2_INTEGER: .integer, CV4L2_INTEGER64: .integer, CV4L2_BOOLEAN: .boolean, CV4L2_MENU: .menu, CV4L2_INTEGER_MENU: .menu,
        CV4L2_BUTTON: .button, CV4L2_BITMASK: .bits,
    ]

    /// At most 256 items: a menu of a driver's has some ten.
    private func items(of id: UInt32, _ range: ClosedRange<Int64>, _ isNumbers: Bool) -> [CaptureControl.Item] {
        let last = min(range.upperBound, range.lowerBound + 255)
        return (range.lowerBound...last).compactMap { value in
            var name = [CChar](repeating: 0, count: 32), number: Int64 = 0
            guard value >= 0, unsafe cv4l2_menu_entry(fd, id, UInt32(clamping: value), &name, &number) == 0 else { return nil }
            let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return CaptureControl.Item(value: value, name: isNumbers ? "\(number)" : text)
        }
    }

    func value(of control: CaptureControl) throws(CaptureError) -> Int64 {
        var value: Int64 = 0
        guard unsafe cv4l2_get_control(fd, control.identifier, control.isWide ? 1 : 0, &value) == 0 else {
            throw failure("read the control \"\(control.name)\"")
        }
        return value
    }

    func set(_ control: CaptureControl, to value: Int64) throws(CaptureError) {
        guard cv4l2_set_control(fd, control.identifier, control.isWide ? 1 : 0, value) == 0 else {
            throw failure("set the control \"\(control.name)\" to \(value)")
        }
    }
}
