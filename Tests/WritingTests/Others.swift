import Foundation
import Glibc
import Media
import TestSupport

/// Programs of other people that play films: what each found in one.
enum Others {
    /// How a program ended, and what it wrote.
    struct Outcome {
        var code: Int32
        var lines: [String]
    }

    private static let python = "/usr/bin/python3"

    /// GStreamer with what it needs for H.264, AAC, VP9 and Opus.
    static let hasGStreamer: Bool = {
        let check = """
            import gi
            gi.require_version("Gst", "1.0")
            from gi.repository import Gst
            Gst.init(None)
            names = ["uridecodebin", "qtdemux", "matroskademux", "tsdemux", "hlsdemux", "souphttpsrc", "vp9dec", "opusdec"]
            found = [all(Gst.ElementFactory.find(n) for n in names)]
            found += [any(Gst.ElementFactory.find(n) for n in two) for two in (["openh264dec", "avdec_h264"], ["faad", "avdec_aac"])]
            raise SystemExit(0 if all(found) else 1)
            """
        return run(python, ["-c", check])?.code == 0
    }()

    /// A line for each track with the number of what was decoded, and `end`.
    static func gstreamer(_ address: String) -> [String] {
        let address = address.hasPrefix("/") ? "file://\(address)" : address
        return run(python, [TestAssets.root + "/Tests/gstreamer-play.py", address])?.lines ?? []
    }

    /// A program, where it is installed.
    static func program(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Plays a film as fast as it can, without a window and without sound; what it complains about.
    static func mpv(_ address: String) -> Outcome? {
        let words = ["--no-config", "--vo=null", "--ao=null", "--untimed", "--ao-null-untimed", "--msg-level=all=warn,ao/null=error"]
        return program("mpv").flatMap { run($0, words + ["--no-terminal", address]) }
    }

    static func mkvinfo(_ path: String) -> Outcome? { program("mkvinfo").flatMap { run($0, ["--all", path]) } }

    /// nil when it cannot be started. One that does not end is ended after two minutes.
    private static func run(_ program: String, _ arguments: [String]) -> Outcome? {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["http_proxy": "", "LC_ALL": "C.UTF-8"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        guard (try? process.run()) != nil else { return nil }
        try? output.fileHandleForWriting.close()
        let text = Monitor("")
        let reader = LoopThread(name: "output") {
            let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
            text.withLock { $0 = String(decoding: data, as: UTF8.self) }
        }
        if !process.waitUntilExit(until: MonotonicClock.shared.now() + .seconds(120)) {
            process.send(SIGKILL)
            process.waitUntilExit()
        }
        reader.join()
        return Outcome(code: process.terminationStatus, lines: text.withLock { $0.split(separator: "\n").map(String.init) })
    }
}
