import Foundation
import Media
import TestSupport
import Testing

/// The virtual machine of `scripts/lab`, seen from inside.
enum Lab {
    /// Whether the tests run there. `scripts/test` and `scripts/lab suite` see to it that they do.
    static let isHere = ProcessInfo.processInfo.environment["LAB"] == "1"

    /// `LAB_FULL=1`: also what takes long, and sway on a monitor, where one window in ten was seen not to appear. Whose fault that is, is
    /// not known.
    static let isFull = ProcessInfo.processInfo.environment["LAB_FULL"] == "1"

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// What a program says, without the end of its last line. Throws when it fails.
    static func output(of program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "\(program) ended with \(process.terminationStatus)") }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

/// One of the lab's compositors; ended with this object, or killed.
final class LabCompositor {
    enum Name: String, Sendable, CaseIterable {
        /// OpenGL without a monitor: draws DMA-BUFs of YCbCr.
        case weston
        /// No OpenGL, no DMA-BUFs.
        case westonPixman = "weston-pixman"
        /// On the monitor of vkms: puts the film's buffer on the screen as it is.
        case swayOnMonitor = "sway-drm"
        /// Offers linux-dmabuf and refuses every buffer.
        case sway
    }

    let name: Name
    /// Of the screen.
    let size: PixelSize
    private let process = ChildProcess(), inlet = Pipe()
    private let folder: String
    private var display = ""
    private var compositor: Int32 = 0

    /// - Parameter settings: Those of `scripts/lab.d/guest/compositor`.
    init(_ name: Name, size: PixelSize = PixelSize(width: 640, height: 360), settings: [String: String] = [:]) throws {
        self.name = name
        self.size = size
        folder = "/run/lab/\(name.rawValue)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        // The shell waits for the end of its input, and for no signal: this process may die without sending one.
        process.arguments = [
            "-c",
            """
            . /run/lab/guest/compositor
            compositor_start \(name.rawValue) 2>\(folder)/errors || exit 125
            echo "$WAYLAND_DISPLAY $LAB_COMPOSITOR_PID" >\(folder)/ready.new
            mv \(folder)/ready.new \(folder)/ready
            read -r
            compositor_stop
            """,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "LAB_SIZE": "\(size.width)x\(size.height)", "LAB_COMPOSITOR_LOG": "\(folder)/log", "SEATD_SOCK": "/run/seatd.sock",
        ]) { $1 }.merging(settings) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = inlet
        try process.run()
        _ = Polling.until(within: .seconds(600), every: .milliseconds(20)) {
            !process.isRunning || FileManager.default.fileExists(atPath: "\(folder)/ready")
        }
        guard let words = try? String(contentsOfFile: "\(folder)/ready", encoding: .utf8).split(whereSeparator: \.isWhitespace), words.count == 2,
            let identifier = Int32(words[1])
        else {
            let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "no log"
            throw Lab.Failure(description: "\(name.rawValue) does not start: \(log.suffix(2000))")
        }
        display = String(words[0])
        compositor = identifier
    }

    deinit { end() }

    private func end() {
        try? inlet.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// As a crash would.
    func kill() { Foundation.kill(compositor, SIGKILL) }

    /// Has sway do something: `fullscreen enable`.
    func command(_ words: String) throws {
        let socket = "/run/user/0/sway-ipc.0.\(compositor).sock"
        _ = try Lab.output(of: "in-lab", ["env", "SWAYSOCK=\(socket)", "swaymsg", words])
    }

    /// The whole path of its socket: a display's name.
    var socket: String { "/run/user/0/\(display)" }

    /// What a client needs to find it.
    var environment: [String: String] { ["XDG_RUNTIME_DIR": "/run/user/0", "WAYLAND_DISPLAY": display] }

    /// What it shows now. The frame is kept in the suite's results under its name.
    func screenshot(_ title: String) throws -> RGBImage {
        let image = "/out/\(name.rawValue)-\(title).png", raw = "\(folder)/shot.rgb"
        try run("lab-shot", [image])
        try run("ffmpeg", ["-nostdin", "-v", "error", "-y", "-i", image, "-f", "rawvideo", "-pix_fmt", "rgb24", raw])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        guard bytes.count == size.width * size.height * 3 else { throw Lab.Failure(description: "a screenshot of \(bytes.count) bytes") }
        return RGBImage(bytes: bytes, size: size, layout: .rgb24)
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        _ = try Lab.output(of: program, arguments, environment: environment.merging(["LAB_COMPOSITOR": name.rawValue]) { $1 })
    }
}
