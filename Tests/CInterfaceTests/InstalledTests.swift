import FilmReference
import Foundation
import TestSupport
import Testing

/// What is installed: files, and the binary interface that built programs depend on.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct InstalledTests {
    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: TestAssets.root + "/Tests/CInterface/" + path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func `everything is where it belongs`() throws {
        let prefix = try Installation.shared.get().prefix
        let manager = FileManager.default
        for program in ["bin/scanout", "libexec/scanout-decoder", "libexec/scanout-demuxer", "libexec/scanout-subtitles"] {
            #expect(manager.isExecutableFile(atPath: "\(prefix)/\(program)"))
        }
        #expect(try manager.destinationOfSymbolicLink(atPath: prefix + "/lib/libscanout.so") == "libscanout.so.0")
        let header = try String(contentsOfFile: prefix + "/include/scanout.h", encoding: .utf8)
        #expect(header.contains("#define SCANOUT_ABI_VERSION 0"))
        let dynamic = try Tool.run("readelf", ["--dynamic", "--wide", prefix + "/lib/libscanout.so.0"]).output
        #expect(dynamic.contains("soname: [libscanout.so.0]"))
    }

    @Test func `the library exports the functions of scanout_h and nothing else`() throws {
        let prefix = try Installation.shared.get().prefix
        let table = try Tool.run("nm", ["--dynamic", "--defined-only", prefix + "/lib/libscanout.so.0"])
        // Small letters are local symbols, which no program can reach; A is the version's name.
        let exported = table.output.split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: " ")
            guard cells.count == 3, cells[1].allSatisfy(\.isUppercase), cells[1] != "A" else { return nil }
            return String(cells[2].prefix { $0 != "@" })
        }
        #expect(exported.sorted() == (try Self.lines("symbols.txt")))
        let header = try String(contentsOfFile: prefix + "/include/scanout.h", encoding: .utf8)
        for name in exported { #expect(header.contains(name + "("), "\(name) is not in scanout.h") }
    }

    /// A program that was built with an older header depends on every number here. Add at the ends; change nothing.
    @Test func `sizes, offsets and values are those that programs were built with`() throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/layout.c")
        #expect(try Tool.run(program, []).output.split(separator: "\n").map(String.init) == Self.lines("layout.txt"))
    }

    /// The program lies elsewhere: the library finds the decoder beside itself.
    @Test func `a C program decodes in the process that was installed`() throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/sandboxed.c")
        let elsewhere = FileManager.default.temporaryDirectory.appendingPathComponent("sandboxed-\(UUID().uuidString)").path
        try FileManager.default.copyItem(atPath: program, toPath: elsewhere)
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        let outcome = try Tool.run(elsewhere, [TestAssets.path("plain.mp4")])
        #expect(outcome.code == 0 && outcome.output.contains("30 frames"), "\(outcome.errors)")
        let output = outcome.output
        #expect(output.contains("h264 (software) in a process of its own") && !output.contains("scanout-decoder"), "\(output)")
    }

    @Test(arguments: ["mp4", "mkv", "ts"], [[], ["full"]])
    func `a C program plays a film from a descriptor, a pipe, memory and its own functions`(_ ending: String, _ sandbox: [String]) throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/sources.c")
        let outcome = try Tool.run(program, [try FilmReference.copy(of: TestAssets.path("plain.mp4"), as: ending)] + sandbox)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let ways = ["name", "descriptor", "pipe", "memory", "functions", "functions in order"]
        #expect(outcome.output == ways.map { "\($0): 30 frames\n" }.joined(), "\(outcome.output)")
    }

    @Test func `the installed program calls itself by its own name`() throws {
        let program = try Installation.shared.get().prefix + "/bin/scanout"
        let help = try Tool.run(program, ["--help"])
        #expect(help.code == 0 && help.output.contains("USAGE: scanout [OPTIONS] FILE|URL|FOLDER|PLAYLIST|- …"), "\(help.output.prefix(300))")
        let refusal = try Tool.run(program, ["/nonexistent"])
        #expect(refusal.code == 66 && refusal.errors.hasPrefix("scanout: /nonexistent: "), "\(refusal.errors)")
    }

    @Test func `the manual page names every option that the help names`() throws {
        let prefix = try Installation.shared.get().prefix
        let page = try Tool.run("gzip", ["-dc", prefix + "/share/man/man1/scanout.1.gz"]).output.replacing("\\-", with: "-")
        #expect(page.hasPrefix(".TH SCANOUT 1 "))
        for words in [["--help"], ["info", "--help"], ["frames", "--help"], ["convert", "--help"], ["devices", "--help"]] {
            let help = try Tool.run(prefix + "/bin/scanout", words).output
            let names = help.matches(of: /(?m)^  (?:-\w, )?(--[a-z-]+)/).map { String($0.1) }
            #expect(names.count >= 3)
            for name in names { #expect(page.contains("\\fB\(name)\\fP"), "\(words): \(name)") }
        }
        for section in ["KEYS", "EXIT STATUS", "EXAMPLES"] { #expect(page.contains("\n.SH \(section)\n")) }
        #expect(page.contains("\n.B 74\n"))
    }

    @Test(
        arguments: [
            (["--sandb"], ["--sandbox"]), (["--sandbox", "f"], ["full"]), (["inf"], ["info"]), (["convert", "--fast"], ["--faststart"]),
            (["--no-vi"], ["--no-video"]), (["plain.m"], ["plain.mp4"]), (["--stats", "plain.m"], ["plain.mp4"]), (["--volume", "p"], []),
        ] as [([String], [String])])
    func `bash completes what is typed`(_ typed: [String], _ expected: [String]) throws {
        let file = try Installation.shared.get().prefix + "/share/bash-completion/completions/scanout"
        let script = """
            cd "$1" && source "$2" && shift 2
            COMP_WORDS=(scanout "$@") COMP_CWORD=$#
            _scanout && printf '%s\n' "${COMPREPLY[@]}"
            """
        let outcome = try Tool.run("bash", ["-c", script, "bash", TestAssets.root + "/assets", file] + typed)
        #expect(outcome.output.split(separator: "\n").map(String.init) == expected, "\(outcome.errors)")
    }

    @Test func `CMake finds the library`() throws {
        let prefix = try Installation.shared.get().prefix
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cmake-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let project = """
            cmake_minimum_required(VERSION 3.18)
            project(test NONE)
            find_package(Scanout 0 REQUIRED)
            get_target_property(library Scanout::scanout IMPORTED_LOCATION)
            get_target_property(headers Scanout::scanout INTERFACE_INCLUDE_DIRECTORIES)
            message(STATUS "found ${library} and ${headers}")
            find_package(Scanout 1 QUIET)
            message(STATUS "another ABI: ${Scanout_FOUND}")
            """
        try project.write(to: folder.appendingPathComponent("CMakeLists.txt"), atomically: true, encoding: .utf8)
        let outcome = try Tool.run("cmake", ["-S", folder.path, "-B", folder.path + "/build", "-DCMAKE_PREFIX_PATH=" + prefix])
        #expect(outcome.output.contains("found \(prefix)/lib/libscanout.so.0 and \(prefix)/include"), "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("another ABI: 0"), "\(outcome.output)")
    }

    @Test(arguments: [(["--prefix"], 64), (["--nonsense"], 64), ([], 64), (["--prefix", "/nonexistent", "--uninstall"], 66)] as [([String], Int32)])
    func `scripts/install refuses what makes no sense`(_ arguments: [String], _ code: Int32) throws {
        let outcome = try Tool.run(TestAssets.root + "/scripts/install", arguments)
        #expect(outcome.code == code && outcome.errors.split(separator: "\n").count == 1)
    }
}
