internal import CAV
internal import Glibc
internal import Media
public import Player

/// A folder in which the program keeps where films were left, a file for each, as mpv's `watch_later` is.
///
/// A file is called by the MD5 of the film's absolute path, or of its address, and does not hold it, so that nobody learns from it what was watched.
///
/// Thread-safety: a value. Two programs that keep the same film's place at once leave the place of one of them.
public struct WatchLater: Sendable, Hashable {
    /// Where the files are. It is made when the first one is written.
    public let folder: String

    /// What is kept in `folder`.
    public init(folder: String) { self.folder = folder }

    /// The folder of this user: `$XDG_STATE_HOME/scanout/watch_later`, by default in `~/.local/state`; nil where neither is known.
    public static var usual: WatchLater? {
        func variable(_ name: String) -> String? {
            // Relative paths are to be ignored (XDG Base Directory Specification).
            unsafe getenv(name).map { unsafe text($0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let states = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        return states.map { WatchLater(folder: $0 + "/scanout/watch_later") }
    }

    // MARK: Names

    /// The file's name for a film; nil: nothing is kept of standard input, nor of an address with a name or a password in it.
    ///
    /// - Parameter directory: what relative paths count from.
    public static func fileName(for location: String, in directory: String) -> String? {
        if location.isEmpty || location == "-" { return nil }
        let scheme = location.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }.lowercased()
        if ["pipe:", "fd:", "data:"].contains(where: (scheme + location.dropFirst(scheme.count).prefix(1)).hasPrefix) { return nil }
        guard !location.dropFirst(scheme.count).hasPrefix("://") else {
            let authority = location.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }
            return authority.contains("@") ? nil : digest(Array(location.utf8))
        }
        return digest(PathText.bytes(normalized(location.hasPrefix("/") ? location : directory + "/" + location)))
    }

    /// Without `.`, `..` and empty parts.
    private static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        var sum = [UInt8](repeating: 0, count: 16)
        unsafe av_md5_sum(&sum, bytes, bytes.count)
        let digits = Array("0123456789ABCDEF")
        return String(sum.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private func path(for location: String) -> String? {
        Self.fileName(for: location, in: Self.directory).map { folder + "/" + $0 }
    }

    private static var directory: String {
        guard let path = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(path) }
        return unsafe text(path)
    }

    private static func text(_ path: UnsafeMutablePointer<CChar>) -> String {
        PathText.text(unsafe UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) })
    }

    // MARK: Reading

    /// Whether the film's place is kept.
    public func holds(_ location: String) -> Bool {
        guard let path = path(for: location) else { return false }
        return unsafe path.withPath { unsafe access($0, F_OK) } == 0
    }

    /// The first of these films whose place is kept; nil: there is none.
    public func first(of locations: [String]) -> Int? {
        let names = self.names
        if names.isEmpty { return nil }
        let directory = Self.directory
        return locations.firstIndex { Self.fileName(for: $0, in: directory).map(names.contains) ?? false }
    }

    private var names: Set<String> {
        guard let stream = unsafe folder.withPath({ unsafe opendir($0) }) else { return [] }
        defer { unsafe closedir(stream) }
        var names: Set<String> = []
        while let entry = unsafe readdir(stream) {
            unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                _ = unsafe names.insert(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return names
    }

    /// 64 KiB: what the program writes has a hundredth of it.
    private static let sizeLimit = 64 << 10

    /// What is kept of a film; nil: nothing. Throws where a file cannot be read, or is not one that says where a film was left.
    public func state(of location: String) throws(PlayerError) -> WatchLaterState? {
        guard holds(location), let path = path(for: location) else { return nil }
        // A pipe without a writer would keep everybody waiting.
        let opened = unsafe path.withPath { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard opened >= 0 else {
            throw PlayerError(.cannotOpen, "\(path): cannot be read, and the film begins anew: \(unsafe String(cString: strerror(errno))).")
        }
        let file = OwnedFD(adopting: opened)
        var status = stat(), bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
        let isFile = unsafe fstat(file.rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let count = isFile ? unsafe read(file.rawValue, &bytes, bytes.count) : -1
        guard (0...Self.sizeLimit).contains(count), let text = String(validating: bytes[..<count], as: UTF8.self),
            let state = WatchLaterState(text: text)
        else { throw PlayerError(.damaged, "\(path) does not say where a film was left, and the film begins anew.") }
        return state
    }

    // MARK: Writing

    /// Keeps the place of a film, whole or not at all.
    ///
    /// - Returns: False for what cannot be found again: standard input, pipes, and addresses with a name or a password in them.
    public func keep(_ state: WatchLaterState, of location: String) throws(PlayerError) -> Bool {
        guard let path = path(for: location), Self.lasts(location) else { return false }
        try makeFolder()
        try FrameExtraction.write(Array(state.text.utf8), to: path)
        return true
    }

    /// Forgets the place of a film.
    public func forget(_ location: String) {
        if let path = path(for: location) { _ = unsafe path.withPath { unsafe unlink($0) } }
    }

    /// Whether it is a file, or on a server.
    private static func lasts(_ location: String) -> Bool {
        var status = stat()
        return unsafe location.withPath { unsafe stat($0, &status) } != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Makes the folder and those that it lies in, for this user only.
    private func makeFolder() throws(PlayerError) {
        var part = folder.hasPrefix("/") ? "" : "."
        for name in folder.split(separator: "/") {
            part += "/" + name
            guard unsafe part.withPath({ unsafe mkdir($0, 0o700) }) != 0, errno != EEXIST else { continue }
            var status = stat()
            // Such as a folder on a file system that cannot be written.
            if errno != ENOENT, unsafe part.withPath({ unsafe stat($0, &status) }) == 0 { continue }
            throw PlayerError(.cannotCreate, "\(part): cannot be created: \(unsafe String(cString: strerror(errno))).")
        }
    }
}
