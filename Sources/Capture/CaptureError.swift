internal import CV4L2
internal import Glibc
internal import Media

/// Why a camera cannot be used, or can no longer be used, in one sentence that names it.
public struct CaptureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for a program's decisions.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// There is no camera, or none of that name.
        case noDevice
        /// The device exists and captures no video.
        case notACamera
        /// The user may not open the device.
        case permission
        /// Another program uses the camera.
        case busy
        /// The camera does not offer the format, the size or the rate.
        case unsupported
        /// The camera has been unplugged, or its driver has let it go.
        case unplugged
        /// The camera or its driver has failed.
        case failed
        /// The system has no memory, thread or descriptor left.
        case system
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence, which begins with the path of the device or the name asked for.
    public let description: String

    /// Makes an error; `description` is one sentence.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// What an `errno` of a device says. `action` ends a sentence that begins with "cannot".
    static func device(_ path: String, _ code: Int32, _ action: String) -> CaptureError {
        switch code {
        case ENOENT, ENXIO: return CaptureError(.noDevice, "\(path): there is no such device.")
        case ENODEV: return CaptureError(.unplugged, "\(path): the camera has been unplugged.")
        case EBUSY: return CaptureError(.busy, "\(path): another program uses this camera.")
        case EACCES, EPERM:
            let group = group(of: path).map { ": only members of the group \($0) may open it" } ?? ""
            return CaptureError(.permission, "\(path): permission denied\(group).")
        case ENOMEM, EMFILE, ENFILE: return CaptureError(.system, "\(path): \(SystemError(code, action)).")
        default: return CaptureError(.failed, "\(path): \(SystemError(code, action)).")
        }
    }

    /// The group whose members may open a device: `video` on most systems.
    static func group(of path: String) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe path.withPath({ unsafe cv4l2_group($0, &name, name.count) }) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
