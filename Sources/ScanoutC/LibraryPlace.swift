internal import CLinux
internal import Glibc
internal import Sandbox

/// Finds the directory of this library, which may be another than that of the program that uses it.
enum LibraryPlace {
    /// The path of the decoder program that is installed with the library. Nil when there is none or the environment names another; the program is
    /// then looked for in the usual places.
    static var decoder: String? {
        guard unsafe getenv(SandboxProgram.variable) == nil else { return nil }
        let here: @convention(c) () -> UInt32 = { scanout_version() }
        guard let library = unsafe clinux_file_of(unsafeBitCast(here, to: UnsafeRawPointer.self)) else { return nil }
        let path = unsafe String(cString: library)
        guard let slash = path.lastIndex(of: "/") else { return nil }
        // Debian's libraries lie in a folder of the processor's below `lib`.
        return ["..", "../.."].map { "\(path[..<slash])/\($0)/libexec/\(SandboxProgram.decoder.name)" }.first { unsafe access($0, X_OK) == 0 }
    }
}
