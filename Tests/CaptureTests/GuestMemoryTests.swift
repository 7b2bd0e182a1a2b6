import Foundation
import Media
import TestSupport
import Testing

/// Where a camera's frames lie on their way, as the kernel says, in the lab's virtual machine.
@Suite("The memory of a camera's frames", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestMemoryTests {
    /// The inodes of all DMA-BUFs, and the names of the devices that read them.
    private static func attachments() -> [Int: Set<String>] {
        var found: [Int: Set<String>] = [:], inode = 0, isDevice = false
        for line in Shell.run("cat /sys/kernel/debug/dma_buf/bufinfo").split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count >= 6, let number = Int(words[5]), Int(words[0]) != nil {
                inode = number
                found[inode] = []
            } else if line.contains("Attached Devices:") {
                isDevice = true
            } else if line.hasPrefix("Total") {
                isDevice = false
            } else if isDevice, let name = words.first {
                found[inode]?.insert(String(name))
            }
        }
        return found
    }

    /// The inodes of the DMA-BUFs that a program holds.
    private static func memory(of process: Int32) -> Set<Int> {
        let lines = Shell.run("grep -lsr exp_name /proc/\(process)/fdinfo | xargs -r grep -hs '^ino:'").split(separator: "\n")
        return Set(lines.compactMap { Int($0.dropFirst(4).trimmingCharacters(in: .whitespaces)) })
    }

    @Test("that the driver writes is the memory that the display reads, and there is no other")
    func identity() throws {
        let card = Shell.run("lab-card vkms"), handle = PlayProgram.Handle()
        let shown = ["--sink", "kms", "--connector", card, "--mode", "640x480", "--duration", "8", "--stats", "-"]
        let program = PlayProgram.begin(Vivid.options + shown, limit: 180, handle: handle)
        let process = try #require(Polling.first(within: .seconds(60)) { handle.processIdentifier })
        var own: Set<Int> = [], read: Set<Int> = []
        _ = Polling.until(within: .seconds(120), every: .milliseconds(200)) {
            // vkms is the only device here that reads DMA-BUFs.
            read.formUnion(Self.attachments().filter { !$0.value.isEmpty }.map(\.key))
            own.formUnion(Self.memory(of: process))
            return !handle.isRunning
        }
        let outcome = try program()
        #expect(outcome.code == 0, "\(outcome.errors)")
        let json = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)")
        let camera = try #require(json["camera"] as? [String: Any])
        #expect(camera["buffers"] as? String == "imported" && json["bytesCopied"] as? Int == 0 && json["conversion"] is NSNull)
        // One after the other is shown: the driver fills the buffers in turn.
        #expect(read.count >= 2 && own.count <= 32, "\(own.count) of the camera's buffers, \(read.count) of them were shown")
        #expect(read.isSubset(of: own), "the display reads nothing else: \(read), \(own)")
    }
}
