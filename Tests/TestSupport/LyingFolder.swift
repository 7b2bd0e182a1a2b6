internal import Foundation

/// A folder whose programs are `lying-proxy`, with the true ones in `real`: what a player without rights of its own starts there lies to it.
public struct LyingFolder: Sendable {
    /// Without a slash at its end.
    public let path: String

    /// - Parameters:
    ///   - programs: The names of those that lie.
    ///   - lessons: A folder that several of these share: what one proxy learns, all know.
    public init(_ path: String, _ programs: [String], sharing lessons: String) throws {
        self.path = path
        let files = FileManager.default
        try files.createDirectory(atPath: path + "/real", withIntermediateDirectories: true)
        try files.createDirectory(atPath: lessons, withIntermediateDirectories: true)
        for name in programs {
            try files.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: BuiltPrograms.folder + "/lying-proxy")
            try files.createSymbolicLink(atPath: "\(path)/real/\(name)", withDestinationPath: BuiltPrograms.folder + "/" + name)
        }
        for name in ["ended", "ended-demuxers"] {
            try files.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: "\(lessons)/\(name)")
        }
    }

    /// The decoder program that the player is told of; the others lie beside it.
    public var decoder: String { path + "/scanout-decoder" }
    /// Where each lie is a line.
    public var log: String { path + "/changes" }
    /// Bytes of that.
    public var logSize: Int { (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0 }

    /// How many messages were changed since the last time that this was asked. What is known of them is forgotten, unless `keepsLog`.
    public func takeChanges(keepsLog: Bool = false) -> Int {
        let count = TextFile.bytes(of: log)?.count { $0 == UInt8(ascii: "\n") } ?? 0
        if !keepsLog { try? FileManager.default.removeItem(atPath: log) }
        return count
    }

    /// Two seconds of small frames, each of which can be decoded alone, with sound: a process that was ended costs one frame.
    public static func film(at path: String) throws -> String {
        try FFmpeg.run(
            ["-i", TestAssets.demo, "-t", "2", "-vf", "scale=160:-2", "-c:v", "libx264", "-g", "1", "-preset", "ultrafast", "-c:a", "copy", path])
        return path
    }
}
