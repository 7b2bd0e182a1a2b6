import Foundation
import Media
import TestSupport
import Testing

/// A seatd of a test's own, of the version of our libseat; ended with this object.
final class LabSeat {
    /// May ask the manager, and may not open a display.
    static let user = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=100"]

    private let process = ChildProcess()
    private let folder = "/run/lab/seat-\(UUID().uuidString.prefix(8))"
    private var isKilled = false

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        // Its socket has a fixed name, which is another's where a compositor has been.
        process.arguments = [
            "--mount", "bash", "-c",
            """
            exec >\(folder)/log 2>&1
            mount --bind \(folder) /run
            exec /lab/usr/local/sbin/host-seatd -g users -l debug
            """,
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        _ = Polling.until(every: .milliseconds(20)) { !process.isRunning || FileManager.default.fileExists(atPath: "\(folder)/seatd.sock") }
        guard FileManager.default.fileExists(atPath: "\(folder)/seatd.sock") else { throw Lab.Failure(description: "seatd does not start: \(log)") }
    }

    deinit {
        kill()
        try? log.write(toFile: "/out/seatd.log", atomically: false, encoding: .utf8)
    }

    /// What a program needs to find it.
    var environment: [String: String] { ["SEATD_SOCK": "\(folder)/seatd.sock", "XDG_RUNTIME_DIR": "/tmp"] }

    var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "no log" }

    /// As a crash would; returns when it is gone.
    func kill() {
        guard !isKilled else { return }
        isKilled = true
        process.send(SIGKILL)
        process.waitUntilExit()
    }
}

/// The keyboard of the virtual machine.
enum LabKeyboard {
    /// Presses these together (QEMU's names), and lets them go.
    static func press(_ keys: String...) throws {
        for isDown in [true, false] {
            for key in isDown ? keys : keys.reversed() {
                _ = try Lab.output(
                    of: "lab-qmp",
                    [
                        """
                        {"execute":"input-send-event","arguments":{"events":[{"type":"key","data":{"down":\(isDown),\
                        "key":{"type":"qcode","data":"\(key)"}}}]}}
                        """
                    ])
            }
        }
    }
}
