import Foundation
import TestSupport
import Testing

@Suite("Wayland protocols")
struct ProtocolTests {
    @Test("the checked-in code is what the definitions give")
    func codeIsCurrent() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(TestAssets.root)/scripts/protocols")
        process.arguments = ["--check"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
