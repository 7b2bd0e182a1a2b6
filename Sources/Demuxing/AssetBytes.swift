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
    enum Origin: ~Copyable {
        case file(OwnedFD)
        case library(any AssetInput)
        case web(ReadAhead)
        /// A list, which has been read whole.
        case text(MemoryBytes)
    }

    var origin: Origin
    /// The place that libavformat reads next; a file needs none.
    private var position: Int64 = 0
    let location: String
    let options: AssetReaderOptions
    /// Its first bytes say that it is a list of other files or addresses (HLS; RFC 8216, 4.3.1.1).
    package private(set) var isPlaylist = false
    /// Its first bytes are those of a DASH manifest (ISO/IEC 23009-1). libavformat would open its parts by itself.
    private(set) var isManifest = false
    /// What a manifest on a web server says, where it can be followed.
    var manifest: Manifest?
    /// Where a web server's list came from, after redirects.
    private(set) var base: String
    /// Lists of variants that have been read and not been opened yet, by what they are called.
    var lists: [String: AssetBytes] = [:]
    /// The variants that a list offers, and the one that its reader sees.
    var offer: VariantOffer?
    /// The list that offers them, and what the network was measured to bring, in bits a second.
    var master: (list: MasterPlaylist, throughput: Int64)?
    /// Where a list asks players to begin, and where that is; nil: nowhere.
    var start: (asked: PlaylistStart, place: PlaylistStart.Place)?
    /// Why what a list names cannot be played, as the end of a sentence; nil as long as nothing forbids it.
    package var objection: String?
    /// The list that names this.
    weak var list: AssetBytes?
    /// Why no more comes from the address that libavformat reads, as the end of a sentence; nil as long as it does.
    private var broken: String?
    /// A part that a list names came to no end.
    private var lacksPart = false

    /// Opens a film as `AssetReader` would, without reading any of it. Blocks.
    ///
    /// Of a list that offers several variants, one is chosen, and the reader sees a list of that one.
    /// - Throws: as `AssetReader.init`.
    package convenience init(_ location: String, options: AssetReaderOptions) throws(AssetError) {
        try self.init(location, options, isPart: false)
        guard let objection = isPlaylist ? readList(choosing: true) : readManifest() else { return }
        throw AssetError(.noPlayableTrack, "\(location): \(objection).")
    }

    init(_ location: String, _ options: AssetReaderOptions, isPart: Bool) throws(AssetError) {
        LibraryLog.silence()
        self.location = location
        self.options = options
        base = location
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
            let source = try ReadAhead(location, options)
            base = source.location
            origin = .web(source)
        } else {
            origin = .library(try AddressInput(opening))
        }
        let head = readHead()
        isPlaylist = Self.isList(head)
        isManifest = head.contains("<MPD")
    }

    /// Lets a film on a web server, and every HLS list, be read through here. The parts of a DASH manifest that an adaptive reader cannot follow are
    /// left to libavformat.
    static func serve(_ location: String, _ options: inout AssetReaderOptions) throws(AssetError) {
        guard options.source == nil, isHTTP(location) || isLocalList(location, options) else { return }
        var own = options
        own.libraryOpensOthers = true
        let bytes = if let opened = options.opened { opened } else { try AssetBytes(location, options: own) }
        // libavformat lets a manifest name local files with these endings: none.
        if bytes.isManifest { options.libraryOptions["allowed_extensions"] = "-" }
        guard !bytes.isManifest else { return }
        options.source = bytes
        guard bytes.isPlaylist else { return }
        options.libraryOpensOthers = true
        // Connections that stay open between segments need libavformat's own protocols.
        options.libraryOptions["http_persistent"] = "0"
        options.libraryOptions["http_multiple"] = "0"
        bytes.beginAsAsked(&options.libraryOptions)
    }

    /// Whether it is a regular file that begins as an HLS list does.
    private static func isLocalList(_ location: String, _ options: AssetReaderOptions) -> Bool {
        // A FIFO is not opened only to look at it: its writer would begin, and what it writes before the close would be lost.
        guard let path = AssetOpening(location: location, options: options).filePath, AssetOpening.isRegular(path) else { return false }
        let number = unsafe path.withPath { unsafe Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard number >= 0 else { return false }
        let file = OwnedFD(adopting: number)
        var status = stat(), head = [UInt8](repeating: 0, count: 10)
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let count = unsafe pread(file.rawValue, &head, head.count, 0)
        return count > 0 && isList(String(decoding: head.prefix(count), as: UTF8.self))
    }

    private static func isList(_ head: String) -> Bool { head.hasPrefix("#EXTM3U") || head.hasPrefix("\u{feff}#EXTM3U") }

    /// A file that has been opened.
    init(_ file: consuming OwnedFD, _ location: String, _ options: AssetReaderOptions) {
        self.location = location
        self.options = options
        base = location
        origin = .file(file)
        isPlaylist = Self.isList(readHead())
    }

    package var isSeekable: Bool {
        switch origin {
        case .file: true
        case .library(let input): unsafe input.io!.pointee.seekable != 0
        case .web(let source): source.isSeekable
        case .text: true
        }
    }

    /// A web server is asked again.
    package var canBegin: Bool {
        switch origin {
        case .web: true
        case .file: true
        case .text: true
        case .library: isSeekable
        }
    }

    package var loss: String? {
        switch origin {
        case .web(let source): source.loss
        case .file: nil
        case .text: lacksPart ? "a part of it did not come" : nil
        case .library: broken
        }
    }

    package var byteCount: Int64? {
        let count: Int64
        switch origin {
        case .file(let descriptor): count = Int64(lseek(descriptor.rawValue, 0, SEEK_END))
        case .library(let input): count = unsafe avio_size(input.io)
        case .web(let source): return source.byteCount
        case .text(let text): return text.byteCount
        }
        return count >= 0 ? count : nil
    }

    /// Bytes that have come of a source that libavformat reads; nil for others, which are read ahead.
    var bytesReceived: Int64? {
        switch origin {
        case .library(let input): unsafe input.io?.pointee.pos
        default: nil
        }
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
        case .web(let source):
            let count = unsafe source.read(into: target, at: offset)
            if count < 0, source.loss != nil { list?.lacksPart = true }
            return count
        case .text(let text): return unsafe text.read(into: target, at: offset)
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
        if AssetError.isBroken(count), let place = StreamAddress(location) { broken = AssetError.loss(av: count, place) }
        if count > 0 { position += Int64(count) }
        return Int(count)
    }

    /// Its first bytes can be read twice.
    private var canBeginWithin: Bool {
        switch origin {
        case .library: false
        case .file: true
        case .web: true
        case .text: true
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
