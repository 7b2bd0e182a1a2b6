internal import CLinux
internal import Glibc
internal import Media

/// A file under a temporary name in the folder where it is to appear, so that no half file bears the right name.
@safe
final class FileDraft {
    let path: String
    let descriptor: OwnedFD
    /// The name until `publish`.
    let draftPath: String
    private(set) var isPublished = false

    private static let count = Monitor(0)
    /// Bytes of a name; most file systems allow 255.
    private static let longestName = 200

    init(path: String, overwrites: Bool) throws(WritingError) {
        self.path = path
        let target = try Self.target(path, overwrites: overwrites)
        let (folder, name) = Self.split(target)
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let stem = name.utf8.count > Self.longestName ? "film" : name
        draftPath = "\(folder).\(stem).\(getpid())-\(number).part"
        self.target = target
        let opened = unsafe draftPath.withPath { unsafe open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        guard opened >= 0 else { throw WritingError.creating(path, errno) }
        descriptor = OwnedFD(adopting: opened)
    }

    private let target: String

    /// Gives the file its name. The bytes are on the disk before.
    func publish() throws(WritingError) {
        guard !isPublished else { return }
        let failed = unsafe fsync(descriptor.rawValue) != 0 || draftPath.withPath { old in unsafe target.withPath { unsafe rename(old, $0) } } != 0
        if failed { throw WritingError.writing(path, errno) }
        isPublished = true
        // So that the name survives a power cut too. Some file systems cannot do that, and need not.
        let folder = Self.split(target).folder
        let opened = unsafe (folder.isEmpty ? "." : folder).withPath { unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard opened >= 0 else { return }
        _ = fsync(opened)
        close(opened)
    }

    /// Removes what has not been published.
    func discard() {
        if !isPublished { _ = unsafe draftPath.withPath { unsafe unlink($0) } }
    }

    /// Removes the file under whatever name.
    func remove() {
        _ = unsafe (isPublished ? target : draftPath).withPath { unsafe unlink($0) }
    }

    /// The file that the path means: not a link, which would be replaced, and not a device.
    private static func target(_ path: String, overwrites: Bool) throws(WritingError) -> String {
        var status = stat()
        guard unsafe path.withPath({ unsafe stat($0, &status) }) == 0 else {
            guard errno == ENOENT else { throw WritingError.creating(path, errno) }
            return path
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw WritingError(.cannotCreate, path, status.st_mode & S_IFMT == S_IFDIR ? "it is a folder" : "it is no file")
        }
        guard overwrites else { throw WritingError.creating(path, EEXIST) }
        guard let resolved = unsafe path.withPath({ unsafe realpath($0, nil) }) else { throw WritingError.creating(path, errno) }
        defer { unsafe free(resolved) }
        return PathText.text(unsafe UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
    }

    /// Without the folders.
    static func name(ofPath path: String) -> String { split(path).name }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }
}
