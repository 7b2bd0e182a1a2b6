internal import CALSA
internal import Glibc
internal import Media

extension CaptureError {
    /// What ALSA's negative error number for a microphone says. `action` ends a sentence that begins with "cannot".
    ///
    /// - Parameters:
    ///   - isOpen: Whether the device was open before: then one that is not there has been unplugged.
    ///   - card: The number of its sound card, if known.
    package static func microphone(_ name: String, _ result: Int32, _ action: String, isOpen: Bool, card: Int? = nil) -> CaptureError {
        switch -result {
        case ENODEV where isOpen: return CaptureError(.unplugged, "\(name): the microphone has been unplugged.")
        case ENOENT, ENXIO, ENODEV: return CaptureError(.noDevice, "\(name): there is no such device.")
        case EBUSY, EAGAIN: return CaptureError(.busy, "\(name): another program uses this microphone.")
        case EACCES, EPERM:
            let path = AudioCaptureDevice.controlPath(card ?? 0)
            let group = group(of: path).map { ": only members of the group \($0) may open it" } ?? ""
            return CaptureError(.permission, "\(name): permission denied\(group).")
        case ENOMEM, EMFILE, ENFILE: return CaptureError(.system, "\(name): cannot \(action): \(reason(result)).")
        default: return CaptureError(.failed, "\(name): cannot \(action): \(reason(result)).")
        }
    }

    /// ALSA's words for an error number.
    static func reason(_ result: Int32) -> String { unsafe String(cString: snd_strerror(result)) }
}
