internal import Glibc

/// A program of this project that runs in a process without rights, and where it lies.
public struct SandboxProgram: Sendable, Hashable {
    /// Decodes: libavcodec, and a device's driver.
    public static let decoder = SandboxProgram(name: "scanout-decoder")
    /// Reads containers: libavformat. Lies beside the decoder.
    public static let demuxer = SandboxProgram(name: "scanout-demuxer")
    /// Lays subtitles out and draws them: libass, and the fonts of the system. Lies beside the decoder.
    public static let subtitles = SandboxProgram(name: "scanout-subtitles")

    /// The environment variable that names the decoder program, before any other place.
    public static let variable = "SCANOUT_DECODER"

    /// The file's name.
    public let name: String

    /// The program to start.
    ///
    /// - Parameter decoder: The decoder program as `SandboxOptions.decoderPath` names it. nil: the one that the environment variable names, else
    ///   one beside the running program or in its `../libexec`.
    /// - Throws: `.unavailable` when there is none.
    package func find(_ decoder: String? = nil) throws(SandboxError) -> String {
        let decoder = try Self.findDecoder(decoder)
        guard self != .decoder else { return decoder }
        let folder = decoder.lastIndex(of: "/").map { String(decoder[...$0]) } ?? ""
        let path = folder + name
        guard Self.isProgram(path) else { throw SandboxError(.unavailable, "the program \(name) does not lie beside \(decoder)") }
        return path
    }

    private static func findDecoder(_ path: String?) throws(SandboxError) -> String {
        if let path {
            guard isProgram(path) else { throw SandboxError(.unavailable, "\(path) is not a program that can be started") }
            return path
        }
        if let named = unsafe getenv(variable) {
            let path = unsafe String(cString: named)
            guard isProgram(path) else { throw SandboxError(.unavailable, "\(variable) names \(path), which is not a program") }
            return path
        }
        let name = decoder.name
        if let folder = folderOfThisProgram {
            let found = ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"].first(where: isProgram)
            if let found { return found }
        }
        throw SandboxError(.unavailable, "the program \(name) does not lie beside this program, and \(variable) does not name it")
    }

    private static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    private static var folderOfThisProgram: String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { place in
            let count = unsafe readlink("/proc/self/exe", place.baseAddress!, place.count)
            guard count > 0, count < place.count else { return nil }
            let path = unsafe String(decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(place)[..<count]), as: UTF8.self)
            return path.lastIndex(of: "/").map { String(path[..<$0]) }
        }
    }
}
