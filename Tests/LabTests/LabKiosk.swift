import Foundation
import TestSupport
import Testing

/// The kiosk of `contrib/kiosk`, set up as its page says, in a machine of its own under systemd; it ends with this object.
final class LabKiosk {
    private static let unit = "scanout-kiosk.service"
    /// The machine's files, seen from outside.
    private let root: String

    /// The machine runs, and the unit is there and not started.
    ///
    /// - Parameter sets: lines of the unit's section `[Service]` that replace its own, as `systemctl edit` does.
    init(_ sets: [String] = []) throws {
        _ = try Lab.output(of: "lab-systemd", ["start"])
        root = "/proc/\(try String(contentsOfFile: "/run/lab/systemd/pid", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines))/root"
        try Self.install(into: root)
        // Debian's udev brings the group, which runs outside here.
        try run("groupadd", "--force", "--system", "render")
        try run("useradd", "--system", "--groups", "video,render,audio", "--shell", "/usr/sbin/nologin", "kiosk")
        if !sets.isEmpty {
            let folder = "\(root)/etc/systemd/system/\(Self.unit).d"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try ("[Service]\n" + sets.joined(separator: "\n") + "\n").write(toFile: folder + "/override.conf", atomically: false, encoding: .utf8)
        }
        try run("systemctl", "daemon-reload")
    }

    deinit { _ = try? Lab.output(of: "lab-systemd", ["stop"]) }

    /// The programs and the libraries of their compiler, which a person's folders hide from a service, the film and the unit.
    private static func install(into root: String) throws {
        let built = BuiltPrograms.folder
        let script = """
            set -e
            install -D \(built)/play \(root)/usr/local/bin/scanout
            for name in decoder demuxer subtitles; do install -D \(built)/scanout-$name \(root)/usr/local/libexec/scanout-$name; done
            ldd \(built)/play | awk '$3 ~ "^/(root|home|tmp)/" { print $3 }' | xargs -r cp -t \(root)/usr/local/lib
            chroot \(root) ldconfig
            install -D -m 644 \(TestAssets.demo) \(root)/srv/kiosk/film.mp4
            install -m 644 \(TestAssets.root)/contrib/kiosk/\(unit) \(root)/etc/systemd/system/
            """
        _ = try Lab.output(of: "sh", ["-c", script])
    }

    /// What a program in the machine says.
    @discardableResult func run(_ command: String...) throws -> String { try Lab.output(of: "lab-systemd", command) }

    /// A file of the machine, seen from outside.
    func path(_ name: String) -> String { root + name }

    /// Returns when systemd says that it has started, which is when the first frame is on the screen.
    func start() throws { try run("systemctl", "start", Self.unit) }

    func stop() throws { try run("systemctl", "stop", Self.unit) }

    /// Does not wait until it has started.
    func begin() throws { try run("systemctl", "start", "--no-block", Self.unit) }

    /// A property of the unit, as `systemctl show` names it.
    func property(_ name: String) throws -> String { try run("systemctl", "show", "--property", name, "--value", Self.unit) }

    /// How often systemd has started it again.
    func restarts() throws -> Int { Int(try property("NRestarts")) ?? -1 }

    /// The player's main process, as the test's own machine numbers it.
    func player() throws -> Int32 {
        let inside = try property("MainPID")
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let number = Int32(name), let status = try? String(contentsOfFile: "/proc/\(name)/status", encoding: .utf8) else { continue }
            let numbers = status.split(separator: "\n").first { $0.hasPrefix("NSpid:") }?.split(whereSeparator: \.isWhitespace).dropFirst() ?? []
            if numbers.count == 2, numbers.last.map(String.init) == inside { return number }
        }
        throw Lab.Failure(description: "the kiosk has no process \(inside): \(log)")
    }

    /// What the player's remote control answers; nil: it is not there.
    func answer(_ property: String, at socket: String) throws -> String? {
        let script = """
            import json, socket, sys
            link = socket.socket(socket.AF_UNIX)
            try: link.connect(sys.argv[1])
            except OSError: sys.exit()
            link.sendall(json.dumps({"command": ["get_property", sys.argv[2]], "request_id": 7}).encode() + b"\\n")
            for line in link.makefile():
                answer = json.loads(line)
                if answer.get("request_id") == 7: sys.exit(print(json.dumps(answer.get("data"))))
            """
        let text = try Lab.output(of: "python3", ["-c", script, path(socket), property])
        return text.isEmpty ? nil : text
    }

    /// What it has said.
    var log: String { (try? run("journalctl", "--no-pager", "--lines", "40", "--unit", Self.unit)) ?? "no journal" }
}
