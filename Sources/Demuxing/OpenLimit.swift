internal import CAV
internal import CAVFormat
internal import Glibc

/// Ends the opening of a film that names itself, or ever more other files: a playlist can say so in a line, and libavformat would follow it until
/// the memory is used up.
///
/// It counts only until the film is open. A film that plays opens its parts again and again.
///
/// Thread-safety: one thread at a time, as the reader.
@safe
final class OpenLimit {
    /// 256: more often than any playlist of qualities names the same part.
    private static let timesEach = 256
    /// 4096: each of a large playlist's qualities, languages and keys.
    private static let timesInAll = 4096

    private var counts: [String: Int] = [:]
    private var total = 0
    private var isOpen = false
    /// The film named more than it may.
    private(set) var hasRefused = false

    /// What the parts of a list on a web server are opened with: libavformat passes on only some of what the list was opened with, and not whether
    /// certificates are checked.
    var libraryOptions: [String: String] = [:]

    init() {}

    /// Counts what `context` opens itself, from now on. The limit must outlive it.
    func watch(_ context: UnsafeMutablePointer<AVFormatContext>) {
        unsafe context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe context.pointee.io_open = { context, io, name, flags, options in
            // A demuxer inside another one may have the function without the pointer.
            if let opaque = unsafe context!.pointee.opaque {
                let limit = unsafe Unmanaged<OpenLimit>.fromOpaque(opaque).takeUnretainedValue()
                guard unsafe limit.allows(String(cString: name!)) else { return cav_error(ELOOP) }
                return unsafe limit.openAsUsual(context, io, name, flags, options)
            }
            return unsafe OpenLimit.usual?(context, io, name, flags, options) ?? cav_error(ENOSYS)
        }
    }

    /// Lets libavformat open `name` itself, with `libraryOptions`.
    func openAsUsual(
        _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
        _ name: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        if let options = unsafe options {
            for (key, value) in libraryOptions { unsafe av_dict_set(&options.pointee, key, value, AV_DICT_DONT_OVERWRITE) }
        }
        return unsafe Self.usual?(context, io, name, flags, options) ?? cav_error(ENOSYS)
    }

    private typealias Open =
        @convention(c) (
            UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, UnsafePointer<CChar>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32

    /// How libavformat opens a part when nobody watches.
    private static let usual: Open? = {
        var context = unsafe avformat_alloc_context()
        defer { unsafe avformat_free_context(context) }
        return unsafe context?.pointee.io_open
    }()

    /// Counts an opening; false when there were too many.
    func allows(_ name: String) -> Bool {
        if isOpen { return true }
        counts[name, default: 0] += 1
        total += 1
        if counts[name, default: 0] <= Self.timesEach, total <= Self.timesInAll { return true }
        hasRefused = true
        return false
    }

    /// The film is open; nothing is counted any more.
    func finish() {
        isOpen = true
        counts = [:]
    }
}
