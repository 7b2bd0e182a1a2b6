import Foundation
import Testing

/// The tests of imports inside the lab's virtual machine, which has udmabuf and DMA heaps, with the lab's own Mesa, whose software drivers
/// import DMA-BUFs where those of older systems do not: this program once more, under the lab's loader and libraries.
@Suite("In the lab's Mesa", .serialized, .enabled(if: ProcessInfo.processInfo.environment["LAB"] == "1", "only in the lab's virtual machine"))
struct GuestTests {
    @Test("every test of imports passes", arguments: ["EGLImportTests", "VulkanImportTests"]) func imports(suite: String) throws {
        let log = "/out/\(suite).log"
        try #require(FileManager.default.createFile(atPath: log, contents: nil))
        let process = try Self.inLab(arguments: ["--testing-library", "swift-testing", "--no-parallel", "--filter", "TextureCacheTests.\(suite)"])
        let output = try #require(FileHandle(forWritingAtPath: log))
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("✘") || $0.hasPrefix("↳") }.prefix(20).joined(separator: "\n")
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(lines)")
        #expect(text.contains(#/Test run with [1-9][0-9]* tests? .*passed/#) && !text.contains("skipped"), "see \(log)")
    }

    /// Loads the driver that makes fences; its node.
    private static func vgem() throws -> String {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "modprobe vgem && lab-card vgem"]
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// This program under the lab's loader: the lab's libraries first, then the folders of those that it has loaded now.
    private static func inLab(arguments: [String]) throws -> Process {
        let libraries = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "/lab/usr/lib").first { $0.hasSuffix("-linux-gnu") }.map { "/lab/usr/lib/\($0)" })
        let loader = try #require(
            ["/lab/lib64/ld-linux-x86-64.so.2", "/lab/lib/ld-linux-aarch64.so.1"].first { FileManager.default.fileExists(atPath: $0) })
        var folders = [libraries]
        for line in try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), line.contains(".so") else { continue }
            let folder = String(line[start...].prefix(upTo: line.lastIndex(of: "/")!))
            if !folders.contains(folder) { folders.append(folder) }
        }
        let process = Process()
        process.executableURL = URL(filePath: loader)
        process.arguments =
            ["--library-path", folders.joined(separator: ":"), try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")]
            + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                ImportTests.demand: "1", "__EGL_VENDOR_LIBRARY_DIRS": "/lab/usr/share/glvnd/egl_vendor.d", "EGL_PLATFORM": "surfaceless",
                PendingFence.variable: try Self.vgem(), "VK_DRIVER_FILES": "/lab/usr/share/vulkan/icd.d/lvp_icd.json",
            ], uniquingKeysWith: { $1 })
        return process
    }
}
