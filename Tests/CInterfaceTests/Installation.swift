import Foundation
import Media
import TestSupport

/// The library as `scripts/install` leaves it, made once of what this build made, and programs that use it as anybody's would.
///
/// Several test processes share it: who makes something of it holds a lock, and what is used is never written again.
struct Installation: Sendable {
    var prefix: String

    static let shared = Result { try Installation() }

    /// Under a sanitizer the library needs that sanitizer's runtime, which no C program has.
    static let isPossible = !TestExtent.isSanitized

    private init() throws {
        prefix = BuiltPrograms.folder + "/installed"
        let lock = try FileLock(prefix + ".lock")
        defer { lock.unlock() }
        if Self.isCurrent(prefix) { return }
        let outcome = try Tool.run(TestAssets.root + "/scripts/install", ["--prefix", prefix, "--built", BuiltPrograms.folder])
        guard outcome.code == 0 else { throw Failure(sentence: "scripts/install failed: \(outcome.errors)") }
    }

    /// Whether everything below `prefix` was installed after the newest of the files that it is made of.
    private static func isCurrent(_ prefix: String) -> Bool {
        func changed(_ path: String) -> Date? { (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date }
        guard let installed = changed(prefix + "/share/scanout/installed"),
            let names = TextFile.contents(of: prefix + "/share/scanout/installed"),
            names.split(separator: "\n").allSatisfy({ FileManager.default.fileExists(atPath: "\(prefix)/\($0)") })
        else { return false }
        let parts = ["play", "scanout-decoder", "scanout-demuxer", "scanout-subtitles", "libscanout-c.a"].map { BuiltPrograms.folder + "/" + $0 }
        let helpers = ["libscanout.map", "late_libraries.py", "manual.py", "completions.py", "help_dump.py"].map { "scripts/lib/" + $0 }
        let contributed = ["cmake/ScanoutConfig.cmake", "desktop/scanout.desktop", "desktop/scanout.metainfo.xml"].map { "contrib/" + $0 }
        let sources = (["Sources/CScanout/include/scanout.h", "scripts/install"] + helpers + contributed).map { TestAssets.root + "/" + $0 }
        return (parts + sources).allSatisfy { changed($0).map { $0 <= installed } ?? false }
    }

    struct Failure: Error { var sentence: String }

    /// Builds a C program against the header and the pkg-config file as installed, once for all tests. The program's path.
    ///
    /// - Parameters:
    ///   - shader: the shader beside it is compiled first.
    ///   - options: more words for the compiler.
    func build(
        _ source: String, name: String? = nil, packages: [String] = [], standard: String = "c99", shader: Bool = false, options: [String] = []
    ) throws -> String {
        // Tests run side by side; who wants a program that is being built waits.
        try Self.programs.withLock { programs in
            if let program = programs[source] { return program }
            let lock = try FileLock(prefix + ".lock")
            defer { lock.unlock() }
            let program = try compile(source, name: name, packages: packages, standard: standard, shader: shader, options: options)
            programs[source] = program
            return program
        }
    }

    private static let programs = Monitor<[String: String]>([:])

    private func compile(
        _ source: String, name: String?, packages: [String], standard: String, shader: Bool, options: [String]
    ) throws -> String {
        let flags = try Tool.run(
            "pkg-config", ["--cflags", "--libs", "scanout"] + packages, environment: ["PKG_CONFIG_PATH": prefix + "/lib/pkgconfig"])
        guard flags.code == 0 else { throw Failure(sentence: flags.errors) }
        let program = prefix + "/bin/" + (name ?? URL(fileURLWithPath: source).deletingPathExtension().lastPathComponent)
        if shader {
            let text = URL(fileURLWithPath: source).deletingPathExtension().path + ".comp", name = URL(fileURLWithPath: text).lastPathComponent
            let outcome = try Tool.run(
                "glslangValidator", ["-V", "--vn", name.replacingOccurrences(of: ".", with: "_"), text, "-o", "\(prefix)/include/\(name).h"])
            guard outcome.code == 0 else { throw Failure(sentence: outcome.output + outcome.errors) }
        }
        let words = flags.output.split(whereSeparator: \.isWhitespace).map(String.init) + options
        let outcome = try Tool.run(
            Self.compiler,
            ["-std=" + standard, "-Wall", "-Wextra", "-Werror", "-O1", source, "-o", program + ".new"] + words + ["-Wl,-rpath,\(prefix)/lib", "-lm"])
        // Another process may run the one that is there.
        guard outcome.code == 0, unsafe rename(program + ".new", program) == 0 else { throw Failure(sentence: outcome.errors) }
        return program
    }

    /// The words that run Python with the C library that the tests run with, which a toolchain may bring along.
    let python: [String] = {
        let mapped = (TextFile.contents(of: "/proc/self/maps") ?? "").split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        guard let loader = mapped.first(where: { $0.contains("/ld-linux") }), let library = mapped.first(where: { $0.hasSuffix("/libc.so.6") }),
            URL(fileURLWithPath: "/lib64/ld-linux-x86-64.so.2").resolvingSymlinksInPath().path != loader
        else { return ["/usr/bin/python3"] }
        return [loader, "--library-path", URL(fileURLWithPath: library).deletingLastPathComponent().path, "/usr/bin/python3"]
    }()

    /// The compiler that comes with Swift, which links with the same C library as Swift does.
    private static let compiler: String = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        let swift = folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/swiftc") }
        let clang = swift.map { URL(fileURLWithPath: $0 + "/swiftc").resolvingSymlinksInPath().deletingLastPathComponent().path + "/clang" }
        return clang.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil } ?? "cc"
    }()
}

/// One process at a time, from its making until `unlock`: flock(2).
private struct FileLock {
    private let file: Int32

    init(_ path: String) throws {
        file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, flock(file, LOCK_EX) == 0 else { throw Installation.Failure(sentence: "\(path) cannot be locked: \(errno)") }
    }

    func unlock() { close(file) }
}
