public import CScanout
internal import Capture
internal import Glibc
internal import Media
internal import Player

/// As `scanout_open`, for a camera by its name or path; NULL: the first.
@_cdecl("scanout_open_camera")
public func scanout_open_camera(
    _ name: UnsafePointer<CChar>?, _ camera: UnsafePointer<scanout_camera>?, _ options: UnsafePointer<scanout_options>?,
    _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    let call = unsafe OpeningCall(options, opened, message, messageSize)
    guard let wishes = unsafe CallerStruct.read(camera, zero: scanout_camera()), let request = CaptureRequest(wishes) else {
        return call.refuse("The size, the frames' size or the rate in scanout_camera make no sense.")
    }
    return call.open(.camera(unsafe PathText.text(forC: name), request), reconnects: wishes.reconnects != 0)
}

extension CaptureRequest {
    /// Nil: only a half of a size or of a rate, or numbers that no camera has.
    fileprivate init?(_ wishes: scanout_camera) {
        guard (wishes.width == 0) == (wishes.height == 0), (wishes.rate_numerator == 0) == (wishes.rate_denominator == 0),
            let numerator = Int32(exactly: wishes.rate_numerator), let denominator = Int32(exactly: wishes.rate_denominator),
            wishes.width <= 65_536, wishes.height <= 65_536, wishes.reserved == 0
        else { return nil }
        self.init(
            code: wishes.format == 0 ? nil : FourCC(rawValue: wishes.format),
            size: wishes.width == 0 ? nil : PixelSize(width: Int(wishes.width), height: Int(wishes.height)),
            rate: numerator == 0 ? nil : Ratio(numerator, denominator))
    }
}
