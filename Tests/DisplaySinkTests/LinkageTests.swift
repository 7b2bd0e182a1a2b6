import Foundation
import TestSupport
import Testing

/// Which shared libraries a program needs, by the modules that it uses.
@Suite struct LinkageTests {
    /// What only a window or a monitor needs.
    static let displays = ["libwayland-client.so", "libxkbcommon.so", "libudev.so", "libseat.so"]

    @Test(.enabled(if: !TestExtent.isSanitized, "a sanitized build has no examples"))
    func `a program that plays without a display needs no library of a display system`() throws {
        let needed = try Self.needed(by: "brightness")
        #expect(needed.contains { $0.hasPrefix("libavcodec.so") }, "\(needed)")
        for library in Self.displays { #expect(!needed.contains { $0.hasPrefix(library) }, "\(library)") }
    }

    @Test func `the player needs them`() throws {
        let needed = try Self.needed(by: "play")
        for library in Self.displays { #expect(needed.contains { $0.hasPrefix(library) }, "\(library)") }
    }

    /// The names in the program's dynamic section.
    private static func needed(by program: String) throws -> [String] {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["readelf", "--dynamic", "--wide", BuiltPrograms.folder + "/" + program]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").filter { $0.contains("(NEEDED)") }.compactMap { line in
            line.split(separator: "[").last?.split(separator: "]").first.map(String.init)
        }
    }
}
