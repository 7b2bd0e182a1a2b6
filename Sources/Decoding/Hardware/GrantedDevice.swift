internal import Media
internal import SurfacePool

/// In a decoder process: the render node that the player has opened for it, with the driver loaded while files could still be read.
///
/// Thread-safety: all of it; immutable.
package final class GrantedDevice: Sendable {
    /// The device, or why there is none.
    let device: Result<VADevice, DecodingError>

    /// Loads the driver; it opens files and may start threads. Nothing of a film must be in the process yet.
    /// - Parameter descriptor: The render node, owned from now on.
    package init(descriptor: Int32) {
        do throws(SurfaceError) {
            let device = try VADevice(OwnedFD(adopting: descriptor), path: Self.name)
            // Drivers put off what they do not need at once.
            _ = device.profiles()
            HardwareDevices.add(device)
            self.device = .success(device)
        } catch {
            device = .failure(DecodingError(.noHardware, error.description, status: error.status))
        }
    }

    /// The name of the device in messages; only the player knows its path.
    private static let name = "the render node"

    /// `options` for decoding on it and on nothing else: software has a process with fewer rights.
    func options(_ options: DecoderOptions) throws(DecodingError) -> DecoderOptions {
        var options = options
        options.specification = DecoderSpecification(hardware: .require, device: try device.get().path)
        return options
    }
}
