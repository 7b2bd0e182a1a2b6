import Foundation
import Glibc
import Player
import TestSupport
import Testing

@testable import PlaySupport

/// Files of frames and places, which are written whole or not at all.
@Suite struct WholeFileTests {
    /// In a process of its own, because limits are a process's. That on the size of a file stands for a full disk: a part is written, the rest not.
    @Test func `a file that has no room is said, and nothing of it stays`() async {
        await #expect(processExitsWith: .success) {
            let folder = NSTemporaryDirectory() + "whole-\(UUID().uuidString.prefix(8))", path = folder + "/frame.png"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let bytes = [UInt8](repeating: 7, count: 100_000)
            var failure: PlayerError?
            do throws(PlayerError) { try FrameExtraction.write(bytes, to: path) } catch { failure = error }
            precondition(failure?.code == .cannotWrite && failure?.description == "\(path): cannot be written: File too large.", "\(failure as Any)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            precondition(left.isEmpty, "\(left)")
            try FrameExtraction.write(Array(bytes[..<1000]), to: path)
            let kept = try Data(contentsOf: URL(fileURLWithPath: path))
            precondition(kept.count == 1000)
        }
    }
}
