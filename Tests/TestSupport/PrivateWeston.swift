internal import Foundation
public import Media

/// A Wayland compositor of a test's own: Weston without a monitor, in a folder of its own, ended when this object goes or the test
/// process dies.
///
/// Thread-safety: all of it.
public final class PrivateWeston: @unchecked Sendable {
    /// What draws: OpenGL takes YUV frames, Pixman takes RGB only.
    public enum Renderer: String, Sendable, CaseIterable { case gl, pixman }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The monitor's size, in pixels.
    public let size: PixelSize
    /// The whole path of the socket: a display's name.
    public var display: String { "\(folder)/display" }
    private let folder: String
    private let process = ChildProcess()
    /// The kernel ends Weston with the *thread* that began it, so that thread waits for it.
    private let thread: LoopThread
    private let state = Monitor((hasBegun: false, isOver: false))

    /// Starts it and waits until clients can connect.
    ///
    /// - Parameter isBare: Nothing is to be seen but windows on black, and they come at once instead of being faded in.
    public init(_ renderer: Renderer = .gl, size: PixelSize = PixelSize(width: 640, height: 480), isBare: Bool = false) throws {
        self.size = size
        folder = NSTemporaryDirectory().appending("weston-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        // Weston 12 has other words for the same.
        let backend =
            try Self.version() < 12
            ? ["--backend=headless-backend.so", "--use-\(renderer.rawValue)"] : ["--backend=headless", "--renderer=\(renderer.rawValue)"]
        if isBare {
            let bare = "[shell]\nbackground-color=0xff000000\npanel-position=none\nanimation=none\nstartup-animation=none\n"
            try Data(bare.utf8).write(to: URL(fileURLWithPath: "\(folder)/weston.ini"))
        }
        // --debug lets a client take screenshots.
        process.arguments =
            ["--pdeathsig", "KILL", "weston"] + backend + [
                "--width=\(size.width)", "--height=\(size.height)", "--socket=display", "--idle-time=0",
                isBare ? "--config=\(folder)/weston.ini" : "--no-config",
                "--debug",
                "--log=\(folder)/log",
            ]
        process.environment = Self.environment(folder)
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        thread = LoopThread(name: "weston") { [state, process] in
            try? process.run()
            state.change { $0.hasBegun = true }
            let _: Void? = state.wait { $0.isOver ? () : nil }
        }
        let _: Void? = state.wait { $0.hasBegun ? () : nil }
        let socket = display
        _ = Polling.until(every: .milliseconds(10)) { Self.isListening(at: socket) || !process.isRunning }
        guard Self.isListening(at: display) else {
            let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "no log"
            kill()
            throw Failure(description: "Weston does not start: \(log.suffix(2000))")
        }
    }

    /// A name in the file system comes before the server listens (proc(5), /proc/net/unix: 10000 is __SO_ACCEPTCON).
    private static func isListening(at path: String) -> Bool {
        (TextFile.contents(of: "/proc/net/unix") ?? "").split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count == 8 && fields[3] == "00010000" && fields[7] == path
        }
    }

    /// The first number of its version.
    private static func version() throws -> Int {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/weston") else {
            throw Failure(description: "Weston is missing: apt-get install weston")
        }
        // To a file: the other end of a pipe would be inherited by whatever another test starts meanwhile.
        let output = NSTemporaryDirectory().appending("weston-version-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: output) }
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec weston --version > '\(output)'"]
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        guard let major = text.split(separator: " ").last?.split(separator: ".").first.flatMap({ Int($0) }) else {
            throw Failure(description: "Weston's version is \(text)")
        }
        return major
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends it at once, as a crash would.
    public func kill() {
        if process.isRunning {
            process.send(SIGKILL)
            process.waitUntilExit()
        }
        state.change { $0.isOver = true }
        thread.join()
    }

    /// Stops Weston in its tracks, alive, or lets it go on.
    public func freeze(_ isFrozen: Bool) { process.send(isFrozen ? SIGSTOP : SIGCONT) }

    private static func environment(_ folder: String) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_RUNTIME_DIR"] = folder
        environment["WAYLAND_DISPLAY"] = "display"
        return environment
    }

    /// What the monitor shows now.
    public func screenshot() throws -> RGBImage {
        for old in try shots() { try FileManager.default.removeItem(atPath: old) }
        try run("/usr/bin/weston-screenshooter", [])
        guard let shot = try shots().first else { throw Failure(description: "weston-screenshooter took no screenshot") }
        let raw = "\(folder)/shot.rgb"
        try run("/usr/bin/ffmpeg", ["-nostdin", "-v", "error", "-y", "-i", shot, "-f", "rawvideo", "-pix_fmt", "rgb24", raw])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        guard bytes.count == size.width * size.height * 3 else { throw Failure(description: "a screenshot of \(bytes.count) bytes") }
        return RGBImage(bytes: bytes, size: size, layout: .rgb24)
    }

    private func shots() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }.map { "\(folder)/\($0)" }
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = Self.environment(folder)
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "\(program) ended with \(process.terminationStatus)") }
    }
}
