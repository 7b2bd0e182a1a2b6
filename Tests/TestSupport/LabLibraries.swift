internal import Foundation

/// The libraries of the lab's own system, whose Mesa imports DMA-BUFs in software where this system's may not: how a program of this system is
/// run with them, inside the virtual machine.
public enum LabLibraries {
    /// Whether this is the virtual machine.
    public static let areHere = ProcessInfo.processInfo.environment["LAB"] == "1"

    /// Where they lie.
    private static func folder() throws -> String {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/lab/usr/lib")
        guard let name = folders.first(where: { $0.hasSuffix("-linux-gnu") }) else { throw CocoaError(.fileNoSuchFile) }
        return "/lab/usr/lib/" + name
    }

    /// What a program of this system that is to use the lab's libraries is compiled with: their headers. What they need of the lab's C library
    /// is not looked for when it is linked.
    public static func compilerOptions(for packages: [String]) throws -> [String] {
        let places = [try folder() + "/pkgconfig", "/lab/usr/share/pkgconfig"].joined(separator: ":")
        let flags = try Tool.run(
            "pkg-config", ["--cflags", "--libs"] + packages, environment: ["PKG_CONFIG_LIBDIR": places, "PKG_CONFIG_SYSROOT_DIR": "/lab"])
        guard flags.code == 0 else { throw CocoaError(.fileNoSuchFile, userInfo: [NSDebugDescriptionErrorKey: flags.errors]) }
        // Those of its C library are not for this system's compiler.
        let words = flags.output.split(whereSeparator: \.isWhitespace).map(String.init).filter { $0 != "-I/lab/usr/include" }
        return try words
            + ["-L" + folder(), "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    }

    /// The words before a program's path: the lab's loader, which looks in the lab's libraries first, then where those that this process has
    /// loaded lie.
    public static func loader() throws -> [String] {
        let manager = FileManager.default
        guard let loader = ["/lab/lib64/ld-linux-x86-64.so.2", "/lab/lib/ld-linux-aarch64.so.1"].first(where: { manager.fileExists(atPath: $0) })
        else { throw CocoaError(.fileNoSuchFile) }
        var folders = [try folder()]
        for line in (TextFile.contents(of: "/proc/self/maps") ?? "").split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), line.contains(".so") else { continue }
            let folder = String(line[start...].prefix(upTo: line.lastIndex(of: "/")!))
            if !folders.contains(folder) { folders.append(folder) }
        }
        return [loader, "--library-path", folders.joined(separator: ":")]
    }

    /// Where those libraries find the lab's drivers.
    public static let environment = [
        "__EGL_VENDOR_LIBRARY_DIRS": "/lab/usr/share/glvnd/egl_vendor.d", "EGL_PLATFORM": "surfaceless",
        "VK_DRIVER_FILES": "/lab/usr/share/vulkan/icd.d/lvp_icd.json",
    ]
}
