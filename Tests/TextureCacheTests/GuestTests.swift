import Foundation
import TestSupport
import Testing

/// The tests of imports inside the lab's virtual machine, which has udmabuf and DMA heaps, with the lab's own Mesa, whose software drivers
/// import DMA-BUFs where those of older systems do not: this program once more, under the lab's loader and libraries.
@Suite("In the lab's Mesa", .serialized, .enabled(if: ProcessInfo.processInfo.environment["LAB"] == "1", "only in the lab's virtual machine"))
struct GuestTests {
    /// Suites, and which of their tests: of the compositor's, those that draw into this machine's kinds of memory, one of them unless all is wanted.
    @Test(
        "every test of imports passes",
        arguments: [
            ("TextureCacheTests.EGLImportTests", ""), ("TextureCacheTests.VulkanImportTests", ""),
            ("CompositionTests.GPUDrawingTests", TestExtent.isFull ? "/.(each|layers)" : "/.layers"),
        ])
    func imports(suite: String, tests: String) throws {
        let log = "/out/\(suite).log"
        try #require(FileManager.default.createFile(atPath: log, contents: nil))
        let process = try Self.inLab(
            arguments: ["--testing-library", "swift-testing", "--no-parallel", "--filter", suite + tests],
            environment: suite.contains("Vulkan") ? Self.layer : [:])
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
        #expect(!text.contains("VUID") && !text.contains("alidation Error"), "see \(log)")
    }

    /// Puts the layer that knows Vulkan's specification between a program and its driver. OpenGL, which may be drawn by Vulkan, goes without.
    private static let layer = ["VK_LAYER_PATH": "/lab/usr/share/vulkan/explicit_layer.d", "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"]

    /// This program under the lab's loader.
    private static func inLab(arguments: [String], environment: [String: String]) throws -> ChildProcess {
        let words = try LabLibraries.loader()
        let process = ChildProcess()
        process.executableURL = URL(filePath: words[0])
        process.arguments = words.dropFirst() + [try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(LabLibraries.environment) { $1 }.merging(
            [ImportTests.demand: "1", PendingFence.variable: try PendingFence.load()], uniquingKeysWith: { $1 }
        ).merging(environment) { $1 }
        return process
    }
}
