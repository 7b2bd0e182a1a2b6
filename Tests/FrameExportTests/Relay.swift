import Foundation
import FrameExport
import Media
import TestSupport

/// A GStreamer between two sockets, in the lab: takes DMA-BUFs and hands them on.
final class Relay {
    enum GStreamer {
        /// The lab's own, 1.28.
        case lab
        /// Debian 13's, 1.26, unpacked by the lab's suite.
        case trixie

        /// Where its files are.
        fileprivate var root: String {
            switch self {
            case .lab: "/lab"
            case .trixie: (ProcessInfo.processInfo.environment["LAB_GSTREAMER"] ?? "/nonexistent") + "/root"
            }
        }

        /// The folder of its libraries; of the plug-ins' too.
        fileprivate func libraries() throws -> String {
            let triple = try FileManager.default.contentsOfDirectory(atPath: root + "/usr/lib").first { $0.hasSuffix("-linux-gnu") }
            guard let triple else { throw CocoaError(.fileNoSuchFile) }
            return "/usr/lib/" + triple
        }

        /// The words before the pipeline: what starts the program, and where it finds plug-ins.
        fileprivate func launch(_ variables: [String]) throws -> [String] {
            switch self {
            case .lab: return ["in-lab"] + variables + ["gst-launch-1.0"]
            case .trixie:
                let libraries = try root + libraries(), loaders = ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"].map { "\(libraries)/\($0)" }
                guard let loader = loaders.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                return variables + [loader, "--library-path", libraries, root + "/usr/bin/gst-launch-1.0"]
            }
        }
    }

    private let process = ChildProcess()
    private let folder: String
    private var output: String { folder + "/out" }

    init(_ gstreamer: GStreamer, from path: String) throws {
        folder = "/tmp/relay-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Only what is needed: looking at all plugins takes a minute here. The lab's program sees the lab's root as its own.
        let plugins = try (gstreamer == .lab ? "" : gstreamer.root) + gstreamer.libraries() + "/gstreamer-1.0"
        for name in ["libgstcoreelements.so", "libgstunixfd.so"] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: "\(plugins)/\(name)")
        }
        _ = FileManager.default.createFile(atPath: folder + "/errors", contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/env")
        let variables = [
            "GST_PLUGIN_SYSTEM_PATH_1_0=\(folder)", "GST_REGISTRY_1_0=\(folder)/registry", "GST_REGISTRY_FORK=no", "GIO_MODULE_DIR=\(folder)",
        ]
        process.arguments =
            try gstreamer.launch(variables) + [
                "-q", "unixfdsrc", "socket-path=\(path)", "!", "video/x-raw(memory:DMABuf),format=DMA_DRM", "!", "unixfdsink",
                "socket-path=\(output)", "wait-for-connection=true", "sync=false",
            ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(filePath: folder + "/errors"))
        try process.run()
    }

    var isRunning: Bool { process.isRunning }
    var errors: String { TextFile.contents(of: folder + "/errors") ?? "" }

    /// The client at its end.
    func source() throws -> RemoteFrameSource {
        var source: RemoteFrameSource?
        _ = Polling.until(every: .milliseconds(10)) {
            source = try? RemoteFrameSource(path: output)
            return source != nil || !isRunning
        }
        guard let source else { throw ExportError(.closed, "GStreamer ended: \(errors)") }
        return source
    }

    func end() {
        // Not a signal to be ignored: a test's thread blocks signals, and what it starts inherits that.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
