public import Demuxing
internal import Glibc
internal import Media
public import Player

/// Turns what a command line names into the films of a playlist: opens lists and folders, and lists that they name.
///
/// Blocks while lists are read. Bounded in time and memory whatever they hold: a list has at most 16 MiB, all of them together name at most
/// `PlaylistFile.limit` films and a thousand lists, and they name each other at most eight deep. A list from a web server names only what is on
/// web servers.
///
/// Thread-safety: one thread at a time; the cancellation may come from any.
public struct PlaylistLoader {
    /// What has been found, in order.
    public private(set) var entries: [Playlist.Entry] = []
    /// What could not be read, one sentence each.
    public private(set) var failures: [PlayerError] = []
    private let options: AssetReaderOptions
    /// Names read in lists, and lists read.
    private var nameCount = 0, listCount = 0
    /// More is not taken.
    private var isFull = false

    private static let listLimit = 1000
    private static let longest = 16 << 20
    private static let deepest = 8

    /// - Parameters:
    ///   - network: how lists on web servers are fetched.
    ///   - cancellation: ends a wait for a list.
    public init(network: NetworkOptions, cancellation: AssetCancellation) {
        options = AssetReaderOptions(network: network, cancellation: cancellation)
    }

    /// Whether this is a folder, or is named as a list is, so that it may hold any number of films.
    public static func isList(_ location: String) -> Bool { isFolder(location) || hasEnding(location, of: isWeb(location) ? webLists : lists) }

    /// Adds a film, or the films of a list or a folder.
    public mutating func add(_ location: String) {
        if Self.isFolder(location) {
            add(folder: location)
        } else if Self.isList(location) {
            add(list: location, within: [])
        } else {
            append(Playlist.Entry(location))
        }
    }

    /// Adds the films of a list, whatever its name; `-` is standard input.
    public mutating func add(list location: String) { add(list: location, within: []) }

    // MARK: Lists

    private mutating func add(list location: String, within parents: [String]) {
        if isFull { return }
        listCount += 1
        if listCount > Self.listLimit { return stop("Lists name more than \(Self.listLimit) other lists.") }
        let identity = Self.identity(location)
        guard !parents.contains(identity) else { return fail(.cannotOpen, "\(location): the list names itself.") }
        guard parents.count < Self.deepest else { return fail(.cannotOpen, "\(location): lists name each other more than \(Self.deepest) deep.") }
        let file: PlaylistFile
        do { file = try PlaylistFile(read(location)) } catch let error as PlayerError {
            return failures.append(error)
        } catch let fault as PlaylistFile.Fault {
            return fail(.unsupportedFormat, "\(location): \(fault.sentence)")
        } catch { return }
        if file.isFilm {
            if location != "-" { return append(Playlist.Entry(location)) }
            return fail(.unsupportedFormat, "standard input: a film in pieces (HLS) and no list; play it without --playlist.")
        }
        if file.lines.isEmpty { fail(.unsupportedFormat, "\(location): the list names no film.") }
        for line in file.lines {
            nameCount += 1
            if nameCount > PlaylistFile.limit { stop(PlaylistFile.Fault.tooMany.sentence) }
            if isFull { return }
            add(line, of: location, within: parents + [identity])
        }
    }

    private mutating func add(_ line: PlaylistFile.Line, of list: String, within parents: [String]) {
        let location: String
        if Self.isWeb(list) {
            guard let address = WebReference.resolve(line.name, at: list) else {
                return fail(.permissionDenied, "\(list): names \(line.name.prefix(200)), which is not on a web server.")
            }
            location = address
        } else {
            location = Self.local(line.name, of: list)
        }
        if Self.isFolder(location) {
            add(folder: location)
        } else if Self.isList(location) {
            add(list: location, within: parents)
        } else {
            append(Playlist.Entry(location, title: line.title))
        }
    }

    /// What a list on this machine names: an address, or a path that counts from the list's folder.
    private static func local(_ name: String, of list: String) -> String {
        if name.contains("://") || name.hasPrefix("file:") { return name }
        let folder = list == "-" ? nil : list.lastIndex(of: "/").map { list[...$0] }
        let path = name.hasPrefix("/") ? name : (folder ?? "./") + name
        guard kind(path) == nil, let readable = PlaylistFile.fromLatin1(path), kind(readable) != nil else { return path }
        return readable
    }

    private func read(_ location: String) throws -> [UInt8] {
        do throws(AssetError) {
            let bytes = try AssetBytes(location, options: options)
            var text: [UInt8] = [], part = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe part.withUnsafeMutableBytes { unsafe bytes.read(into: $0, at: Int64(text.count)) }
                if count < 0 { throw AssetError(.cutShort, "\(location): the list cannot be read to its end.") }
                if count == 0 { return text }
                text += part[..<count]
                if text.count > Self.longest { throw AssetError(.unrecognised, "\(location): a list has at most 16 MiB.") }
            }
        } catch { throw PlayerError(error) }
    }

    // MARK: Folders

    /// The films in a folder, not those in folders within it, in the order of `ls -v`.
    private mutating func add(folder: String) {
        guard let directory = unsafe folder.withPath({ unsafe opendir($0) }) else {
            return failures.append(PlayerError(AssetError.opening(folder, errno)))
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe PathText.text($0.prefix { $0 != 0 }) }
            guard !name.hasPrefix("."), Self.hasEnding(name, of: MediaEndings.all), Self.kind(prefix + name) == S_IFREG else { continue }
            if names.count == PlaylistFile.limit { break }
            names.append(name)
        }
        if names.isEmpty { return fail(.cannotOpen, "\(folder): the folder holds no film.") }
        for name in names.sorted(by: NaturalOrder.precedes) { append(Playlist.Entry(prefix + name)) }
    }

    // MARK: Inside

    private mutating func append(_ entry: Playlist.Entry) {
        if entries.count == PlaylistFile.limit { stop(PlaylistFile.Fault.tooMany.sentence) }
        if !isFull { entries.append(entry) }
    }

    /// Takes nothing more, and says why.
    private mutating func stop(_ sentence: String) {
        if !isFull { failures.append(PlayerError(.unsupportedFormat, sentence)) }
        isFull = true
    }

    private mutating func fail(_ code: PlayerError.Code, _ sentence: String) {
        // What lists name may be broken a hundred thousand times.
        if failures.count < 100 { failures.append(PlayerError(code, sentence)) }
    }

    private static let lists: Set<String> = ["m3u", "m3u8", "pls", "xspf"]
    /// On web servers m3u8 is the ending of films in pieces.
    private static let webLists: Set<String> = ["m3u", "pls", "xspf"]

    private static func hasEnding(_ location: String, of endings: Set<String>) -> Bool {
        let path = isWeb(location) ? location.prefix { $0 != "?" && $0 != "#" } : location[...]
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return false }
        return endings.contains(path[path.index(after: dot)...].lowercased())
    }

    private static func isWeb(_ location: String) -> Bool {
        let start = location.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// Whether this is a folder on this machine.
    public static func isFolder(_ location: String) -> Bool { !isWeb(location) && kind(location) == S_IFDIR }

    /// The kind of file at a path, as `st_mode` has it; nil: there is none.
    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe path.withPath { unsafe stat($0, &status) } == 0 ? status.st_mode & S_IFMT : nil
    }

    /// The same for every name of one list.
    private static func identity(_ location: String) -> String {
        var status = stat()
        guard !isWeb(location), unsafe location.withPath({ unsafe stat($0, &status) }) == 0 else { return location }
        return "\(status.st_dev):\(status.st_ino)"
    }
}

extension PlaylistFile.Fault {
    /// What is wrong, for a person.
    var sentence: String {
        switch self {
        case .binary: "not a list: it holds bytes that no text has."
        case .longLine: "not a list: a line is longer than any name."
        case .tooMany: "A list has at most \(PlaylistFile.limit) films."
        }
    }
}
