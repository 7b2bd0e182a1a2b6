import Foundation
import Media
import TestSupport

@testable import AudioSink

/// PipeWire and its session manager in a session of their own, with two sinks that play into nothing at 48,000 frames a second.
///
/// The process of the test reaches them by `PIPEWIRE_RUNTIME_DIR`, while this lives.
final class PipeWireSession {
    static let sinks = ["first-sink", "second-sink"]
    /// What is played and recorded in one go, in seconds: 1,024 frames of sound, as everywhere where nobody asks for less.
    static let cycle = 1024.0 / 48_000
    private let folder: String
    private var daemons: [ChildProcess] = []

    /// Whether the programs are installed.
    static let isInstalled = ["pipewire", "wireplumber", "pw-record", "dbus-daemon"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    init() throws {
        folder = NSTemporaryDirectory() + "pipewire-\(UUID().uuidString.prefix(8))"
        let settings = folder + "/config/pipewire/pipewire.conf.d"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        let objects = Self.sinks.map { name in
            """
            { factory = adapter args = { factory.name = support.null-audio-sink node.name = \(name) node.description = "The \(name)"
              media.class = Audio/Sink audio.position = [ FL FR ] priority.session = \(name == Self.sinks[0] ? 2000 : 1000) } }
            """
        }
        let text = "context.objects = [ \(objects.joined(separator: "\n")) ]\n"
        try text.write(toFile: settings + "/sinks.conf", atomically: true, encoding: .utf8)
        unsafe setenv("PIPEWIRE_RUNTIME_DIR", folder, 1)
        try start()
    }

    deinit {
        stop()
        unsafe unsetenv("PIPEWIRE_RUNTIME_DIR")
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in ["XDG_RUNTIME_DIR", "PIPEWIRE_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"] { environment[name] = folder }
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(folder)/bus"
        environment["XDG_CONFIG_HOME"] = folder + "/config"
        return environment
    }

    /// Starts a program in the session.
    func launch(_ words: [String], output: Any = FileHandle.nullDevice) throws -> ChildProcess {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Starts the daemons; returns when the sinks are there and the session manager has chosen one, before which it refuses streams.
    func start() throws {
        let bus = folder + "/bus"
        daemons.append(try launch(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(bus)"]))
        let limit = MonotonicClock.shared.now() + .seconds(60)
        while !FileManager.default.fileExists(atPath: bus), MonotonicClock.shared.now() < limit { pause(0.02) }
        daemons.append(try launch(["pipewire"]))
        while (PipeWireSinks.all()?.count ?? 0) < Self.sinks.count, MonotonicClock.shared.now() < limit { pause(0.05) }
        daemons.append(try launch(["wireplumber"]))
        while try !run(["pw-metadata", "0", "default.audio.sink"]).contains(Self.sinks[0]), MonotonicClock.shared.now() < limit { pause(0.1) }
    }

    /// Ends the daemons.
    func stop() {
        for daemon in daemons.reversed() {
            daemon.terminate()
            daemon.waitUntilExit()
        }
        daemons = []
        try? FileManager.default.removeItem(atPath: folder + "/bus")
    }

    /// What a program says.
    func run(_ words: [String]) throws -> String {
        let pipe = Pipe(), process = try launch(words, output: pipe)
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a sink plays while `body` runs, as floats of two channels. `body` gets a function that says whether anything but silence was played.
    func record(_ sink: String, while body: (_ isHeard: () -> Bool) throws -> Void) throws -> [Float] {
        let path = folder + "/\(UUID().uuidString.prefix(8)).wav"
        let recorder = try launch([
            "pw-record", "--target", sink, "-P", "{ stream.capture.sink = true }", "--rate", "48000", "--channels", "2", "--format", "f32", path,
        ])
        func size() -> Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }
        _ = Polling.until(every: .milliseconds(50)) { size() >= 10_000 }
        defer { recorder.interrupt() }
        try body {
            // Behind the file's header.
            (try? Data(contentsOf: URL(fileURLWithPath: path)))?.dropFirst(4096).contains { $0 != 0 } ?? false
        }
        // What is on its way: half a second more, in bytes.
        let complete = size() + 48000 * 2 * MemoryLayout<Float>.size / 2
        _ = Polling.until(every: .milliseconds(50)) { size() >= complete }
        recorder.interrupt()
        recorder.waitUntilExit()
        let text = Pipe(), reader = ChildProcess()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = ["ffmpeg", "-v", "error", "-i", path, "-f", "f32le", "-"]
        reader.standardOutput = text
        try reader.run()
        let bytes = try text.fileHandleForReading.readToEnd() ?? Data()
        reader.waitUntilExit()
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }
}
