internal import CVA
internal import Glibc
package import Media

/// A hardware video decoder or encoder that VA-API drives: a DRM render node and the driver that libva loaded for it.
///
/// The corresponding C type is `VADisplay`, made by `vaGetDisplayDRM`. Thread-safety: all of it; libva's drivers take calls from any thread.
@safe
public final class VADevice: Sendable {
    /// The path of the render node.
    public let path: String
    /// The number of the render node; nil for what is no device node.
    public let number: DeviceNumber?
    /// What the driver calls itself, with its version.
    public let vendor: String
    private let handle: Handle
    // Keeps the node open as long as the display.
    private let descriptor: OwnedFD

    @safe
    private struct Handle: @unchecked Sendable {
        let display: VADisplay
    }

    /// Opens a render node and the driver for it.
    /// - Throws: `.unavailable` with the reason in one sentence.
    public convenience init(path: String) throws(SurfaceError) {
        let number = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw SurfaceError(.unavailable, SystemError(errno, "open \(path)")) }
        try self.init(OwnedFD(adopting: number), path: path)
    }

    /// Opens the driver for a render node that is open.
    /// - Parameter path: What it is called in messages.
    /// - Throws: `.unavailable` with the reason in one sentence.
    package init(_ descriptor: consuming OwnedFD, path: String) throws(SurfaceError) {
        if let missing = LateLibrary.missing("va", "va-drm") { throw SurfaceError(.unavailable, "\(path) cannot be used: \(missing).") }
        guard let display = unsafe vaGetDisplayDRM(descriptor.rawValue) else {
            throw SurfaceError(.unavailable, "\(path) is not a DRM device.")
        }
        unsafe cva_silence(display)
        var major: Int32 = 0, minor: Int32 = 0
        let status = unsafe vaInitialize(display, &major, &minor)
        guard status == VA_STATUS_SUCCESS else {
            unsafe vaTerminate(display)
            throw SurfaceError(.unavailable, "\(path) has no VA-API driver: \(Self.reason(status)).", status: status)
        }
        self.path = path
        number = DeviceNumber(descriptor: descriptor.rawValue)
        vendor = unsafe vaQueryVendorString(display).map { unsafe String(cString: $0) } ?? "unnamed driver"
        unsafe handle = Handle(display: display)
        self.descriptor = descriptor
    }

    deinit { unsafe vaTerminate(display) }

    var display: VADisplay { unsafe handle.display }

    /// libva's handle, for libavcodec; valid as long as the device.
    package var rawDisplay: UnsafeMutableRawPointer { unsafe handle.display }

    /// The render nodes of this machine (`/dev/dri/renderD128`, …), sorted by name; empty where there is none.
    public static func paths() -> [String] {
        guard let directory = unsafe opendir("/dev/dri") else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("renderD") { names.append("/dev/dri/" + name) }
        }
        return names.sorted()
    }

    /// Waits until a frame is complete.
    /// - Returns: nil, or the reason why there is no frame: the decoder failed at it, did not end in time, or is gone.
    package func wait(for surface: VASurface, timeout: HostSpan) -> String? {
        let status = unsafe cva_sync(display, surface.id, UInt64(max(0, timeout.nanoseconds)))
        return status == VA_STATUS_SUCCESS ? nil : Self.reason(status)
    }

    /// libva's words for a status (`vaErrorStr`).
    static func reason(_ status: VAStatus) -> String {
        unsafe vaErrorStr(status).map { unsafe String(cString: $0) } ?? "status \(status)"
    }
}
