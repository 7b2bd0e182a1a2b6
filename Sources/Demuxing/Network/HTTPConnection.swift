internal import CAV
internal import CAVFormat
internal import Glibc
internal import Media

/// One request to a web server, whose answer is read in order from an offset to its end or until it breaks (`avio_open2`).
///
/// It never seeks: libavformat's own seeking over HTTP opens another connection too, but does not show what that one says.
///
/// Thread-safety: one thread at a time.
@safe
final class HTTPConnection {
    private var io: UnsafeMutablePointer<AVIOContext>?
    private let watch: Watch
    /// The server can begin anywhere.
    let isSeekable: Bool
    /// Of the whole film; nil when the server does not say it.
    let byteCount: Int64?
    /// Where the answer came from, after redirects.
    let location: String
    /// The offset of the next byte.
    private(set) var position: Int64

    /// What libavformat asks while it waits. It also ends an opening that takes too long although bytes keep coming.
    private final class Watch {
        private let cancellation: AssetCancellation
        var deadline: HostTime?

        init(_ cancellation: AssetCancellation, _ deadline: HostTime) {
            self.cancellation = cancellation
            self.deadline = deadline
        }

        var isOver: Bool { cancellation.isCancelled || deadline.map { MonotonicClock.shared.now() > $0 } ?? false }
    }

    /// Why there is no connection: an error as libavformat numbers them.
    struct Failure: Error { let status: Int32 }

    /// Asks for the bytes from `offset` on. Blocks until the server answers.
    ///
    /// - Parameters:
    ///   - libraryOptions: Of libavformat's protocols.
    ///   - patience: How long the answer may take.
    init(
        _ address: String, from offset: Int64, _ libraryOptions: [String: String], patience: HostSpan, _ cancellation: AssetCancellation
    ) throws(Failure) {
        let watch = Watch(cancellation, MonotonicClock.shared.now() + patience)
        self.watch = watch
        var interrupt = unsafe AVIOInterruptCB(
            callback: { unsafe Unmanaged<Watch>.fromOpaque($0!).takeUnretainedValue().isOver ? 1 : 0 },
            opaque: Unmanaged.passUnretained(watch).toOpaque())
        var dictionary: OpaquePointer?
        for (key, value) in libraryOptions { unsafe av_dict_set(&dictionary, key, value, 0) }
        if offset > 0 { unsafe av_dict_set(&dictionary, "offset", "\(offset)", 0) }
        var opened: UnsafeMutablePointer<AVIOContext>?
        let status = unsafe avio_open2(&opened, address, AVIO_FLAG_READ, &interrupt, &dictionary)
        unsafe av_dict_free(&dictionary)
        guard status >= 0, let opened = unsafe opened else {
            throw Failure(status: status == cav_error_exit && !cancellation.isCancelled ? cav_error(ETIMEDOUT) : status)
        }
        unsafe io = opened
        watch.deadline = nil
        position = offset
        isSeekable = unsafe opened.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0
        var place: UnsafeMutablePointer<UInt8>?
        let hasPlace = unsafe av_opt_get(opened, "location", AV_OPT_SEARCH_CHILDREN, &place) >= 0
        location = unsafe hasPlace ? place.map { unsafe String(cString: $0) } ?? address : address
        unsafe av_free(place)
        let size = unsafe avio_size(opened)
        byteCount = size >= 0 ? size : nil
    }

    deinit { unsafe avio_closep(&io) }

    /// Reads what has come, at least one byte. Blocks.
    /// - Returns: How many; 0 at the end; below 0 an error as libavformat numbers them.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        let count = unsafe avio_read_partial(io, target.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(clamping: target.count))
        if count > 0 { position += Int64(count) }
        return count == cav_error_eof ? 0 : count
    }
}
