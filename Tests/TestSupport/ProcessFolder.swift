public import Foundation
internal import Glibc

/// A folder of the test process's own for what tests share and make once. It goes when the process ends.
public enum ProcessFolder {
    public static let url: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("player-tests-\(getpid())")
        // What a process of the same number, which was killed, has left.
        try? FileManager.default.removeItem(at: url)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: ProcessFolder.url) }
        return url
    }()

    /// A file of this name in the folder, which no one has made yet.
    public static func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
