internal import CLinux
internal import Glibc
internal import Media

/// A render node that the player opens for a decoder process.
enum RenderNode {
    /// Opens it. A node that drives monitors is refused: an untrusted process must not have it.
    /// - Throws: `.noHardware` with the reason.
    static func open(_ path: String) throws(DecodingError) -> OwnedFD {
        let number = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw DecodingError(.noHardware, SystemError(errno, "open \(path)").description, status: errno) }
        let node = OwnedFD(adopting: number)
        guard clinux_drives_monitors(number) == 0 else {
            throw DecodingError(.noHardware, "\(path) is no render node: it drives monitors, which a decoder process must not")
        }
        return node
    }

    /// The environment variables by which libva chooses its driver.
    private static let variables = ["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH"]

    /// The environment of a process that drives one: the user's choice of a driver, nothing printed, no cache of shaders in files.
    static var environment: [String] {
        variables.compactMap { name in unsafe getenv(name).map { unsafe "\(name)=\(String(cString: $0))" } }
            + ["LIBVA_MESSAGING_LEVEL=0", "MESA_SHADER_CACHE_DISABLE=true"]
    }
}
