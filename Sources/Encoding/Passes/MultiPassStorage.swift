internal import Glibc
internal import Media

/// Where an encoder keeps between two passes what it has learnt of the frames: a folder under a temporary name, which goes when the storage does.
///
/// The counterpart of `VTMultiPassStorage`. Thread-safety: all of it; it serves one session at a time.
public final class MultiPassStorage: Sendable {
    /// The folder of the files, which is the storage's own.
    let folder: String

    /// Makes the folder.
    ///
    /// - Parameter parent: The folder in which it lies; nil takes the one for temporary files (`TMPDIR`, else `/tmp`).
    /// - Throws: `.storage`.
    public init(in parent: String? = nil) throws(EncodingError) {
        let place = TemporaryPlace.folder(parent)
        var template = PathText.bytes("\(place)/scanout-passes-XXXXXX").map { CChar(bitPattern: $0) } + [0]
        guard unsafe mkdtemp(&template) != nil else { throw .storage(place, errno, "no folder can be made for the statistics of passes") }
        folder = PathText.text(template.dropLast().map { UInt8(bitPattern: $0) })
    }

    deinit {
        for name in names { _ = unsafe "\(folder)/\(name)".withPath { unsafe unlink($0) } }
        _ = unsafe folder.withPath { unsafe rmdir($0) }
    }

    /// For encoders that write statistics themselves; they add endings of their own.
    var statisticsPath: String { "\(folder)/statistics" }

    /// What an encoder has handed out as text.
    func write(_ text: String) throws(EncodingError) {
        let descriptor = unsafe statisticsPath.withPath { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw .storage(statisticsPath, errno, "the statistics of a pass cannot be written") }
        let file = OwnedFD(adopting: descriptor)
        do throws(SystemError) { try writeWhole(Array(text.utf8), to: file.rawValue) } catch {
            throw .storage(statisticsPath, error.code, "the statistics of a pass cannot be written")
        }
    }

    /// - Throws: `.storage` when no pass has left statistics.
    func read() throws(EncodingError) -> String {
        let descriptor = unsafe statisticsPath.withPath { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .storage(statisticsPath, errno, "the statistics of the pass before cannot be read") }
        let file = OwnedFD(adopting: descriptor)
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(file.rawValue, &piece, piece.count)
            guard count >= 0 else { throw .storage(statisticsPath, errno, "the statistics of the pass before cannot be read") }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }

    private var names: [String] {
        guard let list = unsafe folder.withPath({ unsafe opendir($0) }) else { return [] }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// Where files of a program's own may lie for a while.
enum TemporaryPlace {
    /// `wanted`, or the environment's.
    static func folder(_ wanted: String?) -> String {
        if let wanted { return wanted }
        guard let place = unsafe getenv("TMPDIR"), unsafe place.pointee != 0 else { return "/tmp" }
        return PathText.text(unsafe UnsafeBufferPointer(start: place, count: strlen(place)).map { UInt8(bitPattern: $0) })
    }
}

extension EncodingError {
    static func storage(_ path: String, _ code: Int32, _ what: String) -> EncodingError {
        EncodingError(.storage, "\(path): \(what): \(unsafe String(cString: strerror(code)))", status: code)
    }
}
