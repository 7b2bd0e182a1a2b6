internal import CAV
internal import CAVFormat
internal import CLinux
internal import Glibc
internal import Media
internal import SampleQueue

/// Reads a film's bytes for a process that may not open anything: from a file, a pipe, or any address that libavformat's
/// protocols know. It does not interpret them.
///
/// Thread-safety: one thread at a time; the cancellation may come from any.
@safe
package final class AssetBytes: FilmBytes, @unchecked Sendable {
    private enum Origin: ~Copyable {
        case file(OwnedFD)
        case library(any AssetInput)
        case web(ReadAhead)
    }

    private let origin: Origin
    /// The place that libavformat reads next; a file needs none.
    private var position: Int64 = 0
    private let location: String
    private let options: AssetReaderOptions
    /// Its first bytes say that it is a list of other files or addresses (HLS; RFC 8216, 4.3.1.1).
    package private(set) var isPlaylist = false
    /// Its first bytes are those of a DASH manifest (ISO/IEC 23009-1), whose parts libavformat opens by itself.
    private(set) var isManifest = false

    /// Opens a film as `AssetReader` would, without reading any of it. Blocks.
    ///
    /// - Throws: as `AssetReader.init`.
    package init(_ location: String, options: AssetReaderOptions) throws(AssetError) {
        LibraryLog.silence()
        self.location = location
        self.options = options
        let opening = AssetOpening(location: location, options: options)
        let path = opening.filePath
        if let path { try opening.check(file: path) }
        if let pipe = try opening.pipeInput() {
            origin = .library(pipe)
        } else if let path {
            let number = unsafe path.withPath { unsafe Glibc.open($0, O_RDONLY | O_CLOEXEC) }
            guard number >= 0 else { throw AssetError.opening(location, errno) }
            origin = .file(OwnedFD(adopting: number))
        } else if Self.isHTTP(location) {
            origin = .web(try ReadAhead(location, options))
        } else {
            origin = .library(try AddressInput(opening))
        }
        let head = readHead()
        isPlaylist = head.hasPrefix("#EXTM3U") || head.hasPrefix("\u{feff}#EXTM3U")
        isManifest = head.contains("<MPD")
    }

    /// Lets a film on a web server be read through here. The lists whose parts libavformat fetches itself are left to it.
    static func serve(_ location: String, _ options: inout AssetReaderOptions) throws(AssetError) {
        guard options.source == nil, isHTTP(location) else { return }
        let bytes = try AssetBytes(location, options: options)
        // libavformat lets a manifest name local files with these endings: none.
        if bytes.isManifest { options.libraryOptions["allowed_extensions"] = "-" }
        if !bytes.isPlaylist, !bytes.isManifest { options.source = bytes }
    }

    /// A file that has been opened.
    private init(_ file: consuming OwnedFD, _ location: String, _ options: AssetReaderOptions) {
        self.location = location
        self.options = options
        origin = .file(file)
    }

    package var isSeekable: Bool {
        switch origin {
        case .file: true
        case .library(let input): unsafe input.io!.pointee.seekable != 0
        case .web(let source): source.isSeekable
        }
    }

    /// A web server is asked again.
    package var canBegin: Bool {
        switch origin {
        case .web: true
        case .file: true
        case .library: isSeekable
        }
    }

    package var loss: String? {
        switch origin {
        case .web(let source): source.loss
        case .file: nil
        case .library: nil
        }
    }

    package var byteCount: Int64? {
        let count: Int64
        switch origin {
        case .file(let descriptor): count = Int64(lseek(descriptor.rawValue, 0, SEEK_END))
        case .library(let input): count = unsafe avio_size(input.io)
        case .web(let source): return source.byteCount
        }
        return count >= 0 ? count : nil
    }

    package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        if options.cancellation.isCancelled { return Int(cav_error_exit) }
        switch origin {
        case .file(let descriptor):
            while true {
                let count = unsafe pread(descriptor.rawValue, target.baseAddress, target.count, Int(offset))
                if count >= 0 { return count }
                if errno != EINTR { return Int(cav_error(errno)) }
            }
        case .library(let input): return unsafe read(input.io!, target, offset)
        case .web(let source): return unsafe source.read(into: target, at: offset)
        }
    }

    private func read(_ io: UnsafeMutablePointer<AVIOContext>, _ target: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int {
        if offset != position {
            let status = unsafe avio_seek(io, offset, SEEK_SET)
            guard status >= 0 else { return Int(clamping: status) }
            position = offset
        }
        let count = unsafe avio_read_partial(io, target.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(clamping: target.count))
        if count == cav_error_eof { return 0 }
        if count > 0 { position += Int64(count) }
        return Int(count)
    }

    // MARK: Playlists

    /// Opens what a playlist names: for a file a regular file in its folder or below, for an HTTP address another one. Opens nothing for other films.
    package func open(_ name: String) -> OtherSource {
        guard isPlaylist else { return .refused }
        switch origin {
        case .file:
            let path = location.hasPrefix("file:") ? String(location.dropFirst(5)) : location
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
            let number = unsafe folder.withPath { unsafe clinux_open_beneath($0, name) }
            guard number >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .refused }
            let file = OwnedFD(adopting: number)
            var status = stat()
            guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .refused }
            return .opened(AssetBytes(file, "\(folder)\(name)", options))
        case .library: return .refused
        case .web:
            guard let address = Self.address(name, from: location), Self.isHTTP(address) else { return .refused }
            return (try? AssetBytes(address, options: options)).map { .opened($0) } ?? .missing
        }
    }

    static func isHTTP(_ address: String) -> Bool { WebAddress(address) != nil }

    /// What `name` means in a playlist at `base` (RFC 3986, 5.2, as far as players meet it); nil where that is no address.
    static func address(_ name: String, from base: String) -> String? {
        if name.contains("://") { return name }
        let place = base.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = place.firstRange(of: "://") else { return nil }
        if name.hasPrefix("//") { return place[..<scheme.lowerBound] + ":" + name }
        let root = place[scheme.upperBound...].firstIndex(of: "/") ?? place.endIndex
        if name.hasPrefix("/") { return place[..<root] + name }
        guard root < place.endIndex, let last = place.lastIndex(of: "/") else { return place + "/" + name }
        return place[...last] + name
    }

    /// Its first bytes can be read twice.
    private var canBeginWithin: Bool {
        switch origin {
        case .library: false
        case .file: true
        case .web: true
        }
    }

    /// The first bytes of what can be read again.
    private func readHead() -> String {
        // Going back after it needs no seekable source: a web server's last bytes are kept. A pipe is not a playlist.
        guard canBeginWithin else { return "" }
        var head = [UInt8](repeating: 0, count: 1024)
        var count = 0
        while count < head.count {
            let got = unsafe head.withUnsafeMutableBytes {
                unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]), at: Int64(count))
            }
            guard got > 0 else { break }
            count += got
        }
        return String(decoding: head[..<count], as: UTF8.self)
    }
}

/// A connection by one of libavformat's protocols, without the containers that make connections of their own.
@safe
private final class AddressInput: AssetInput {
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// Outlives the connection, which asks it.
    private let cancellation: AssetCancellation

    init(_ opening: AssetOpening) throws(AssetError) {
        cancellation = opening.options.cancellation
        unsafe io = nil
        let location = opening.location
        if let name = Self.container(connectingTo: location) {
            throw AssetError(.sandbox, "\(location): \(name) makes network connections of its own, which a demuxer without rights cannot.")
        }
        var interrupt = unsafe AVIOInterruptCB(
            callback: { unsafe Unmanaged<AssetCancellation>.fromOpaque($0!).takeUnretainedValue().isCancelled ? 1 : 0 },
            opaque: Unmanaged.passUnretained(cancellation).toOpaque())
        var dictionary: OpaquePointer?
        unsafe av_dict_set(&dictionary, "rw_timeout", AssetOpening.networkTimeout, 0)
        for (key, value) in opening.options.libraryOptions { unsafe av_dict_set(&dictionary, key, value, 0) }
        let status = unsafe avio_open2(&io, opening.address, AVIO_FLAG_READ, &interrupt, &dictionary)
        unsafe av_dict_free(&dictionary)
        guard status >= 0 else { throw AssetError.opening(location, av: status) }
    }

    deinit { unsafe avio_closep(&io) }

    var canBegin: Bool { unsafe io!.pointee.seekable != 0 }

    /// The container that the kind of address implies (such as RTSP); nil for most.
    private static func container(connectingTo address: String) -> String? {
        unsafe address.withCString { name in
            var data = unsafe AVProbeData(filename: name, buf: nil, buf_size: 0, mime_type: nil)
            guard let format = unsafe av_probe_input_format(&data, 0), unsafe format.pointee.flags & AVFMT_NOFILE != 0 else { return nil }
            return unsafe String(cString: format.pointee.name)
        }
    }
}
