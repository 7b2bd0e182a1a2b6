import Foundation
import TestSupport
import Testing

private let hasValidationLayer = FileManager.default.fileExists(atPath: "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")

/// The tests of Vulkan once more, with the layer that knows the specification between them and the driver: it finds what a software driver lets
/// pass and a real one answers by a crash.
@Suite(.unsanitized, .enabled(if: hasValidationLayer, "the validation layer of Vulkan is not installed"))
struct ValidationLayerTests {
    @Test func `the layer has nothing to say`() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let outcome = try Tool.run(
            program,
            ["--testing-library", "swift-testing", "--no-parallel", "--filter", "TextureCacheTests.VulkanTextureCacheTests"],
            environment: ["VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"])
        let text = outcome.output + outcome.errors
        let words = text.split(separator: "\n").filter { $0.contains("VUID") || $0.contains("alidation Error") }
        #expect(outcome.code == 0 && words.isEmpty, "\(words.prefix(5).joined(separator: "\n")) \(text.suffix(500))")
        #expect(text.contains(#/Test run with [1-9][0-9]* tests? .*passed/#), "\(text.suffix(500))")
    }
}
