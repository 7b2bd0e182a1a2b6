internal import CAV
internal import CAVFormat
internal import Glibc

/// An input for libavformat, which then opens no file or address itself. It must outlive the format context that uses it.
protocol AssetInput: AnyObject {
    var io: UnsafeMutablePointer<AVIOContext>? { get }
    /// Whether another input can be made that starts at the beginning.
    var canBegin: Bool { get }
}

/// A `FilmBytes` as libavformat's input.
@safe
final class SourceInput: AssetInput {
    private let source: any FilmBytes
    private var position: Int64 = 0
    private var context: InputContext?
    var io: UnsafeMutablePointer<AVIOContext>? { unsafe context?.io }

    /// 64 KiB: twice libavformat's own, because each read may be a question to another process.
    private static let bufferBytes = 65_536

    /// nil when there is no memory.
    init?(_ source: any FilmBytes) {
        self.source = source
        context = unsafe InputContext(
            asking: self, bufferBytes: Self.bufferBytes,
            read: { unsafe Unmanaged<SourceInput>.fromOpaque($0!).takeUnretainedValue().read($1!, $2) },
            seek: source.isSeekable ? { unsafe Unmanaged<SourceInput>.fromOpaque($0!).takeUnretainedValue().seek($1, $2) } : nil)
        guard context != nil else { return nil }
    }

    var canBegin: Bool { source.canBegin }

    private func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        let got = unsafe source.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)), at: position)
        guard got > 0 else { return got == 0 ? cav_error_eof : Int32(clamping: got) }
        position += Int64(got)
        return Int32(got)
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return source.byteCount ?? Int64(cav_error(ENOSYS)) }
        let base: Int64?
        switch whence & ~AVSEEK_FORCE {
        case SEEK_SET: base = 0
        case SEEK_CUR: base = position
        case SEEK_END: base = source.byteCount
        default: base = nil
        }
        guard let base else { return Int64(cav_error(EINVAL)) }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(cav_error(EINVAL)) }
        position = target
        return target
    }

    // MARK: What a film opens besides itself

    /// Lets libavformat open what the film names through `source`; what that refuses it may open itself where `opener` says so.
    static func serve(_ context: UnsafeMutablePointer<AVFormatContext>, from opener: Opener) {
        unsafe context.pointee.opaque = Unmanaged.passUnretained(opener).toOpaque()
        unsafe context.pointee.io_open = { context, io, name, flags, options in
            let opener = unsafe Unmanaged<Opener>.fromOpaque(context!.pointee.opaque).takeUnretainedValue()
            let place = unsafe String(cString: name!)
            guard opener.limit.allows(place) else { return cav_error(ENOENT) }
            // Of one file, a list may name parts.
            let isPartOfFile = unsafe options.map { unsafe av_dict_get($0.pointee, "offset", nil, 0) != nil } ?? false
            let source: any FilmBytes
            switch isPartOfFile && opener.libraryOpensOthers ? .refused : opener.open(place) {
            case .opened(let other): source = other
            case .missing: return cav_error(ENOENT)
            case .refused:
                guard opener.libraryOpensOthers, !opener.isForbidden else { return cav_error(EPERM) }
                let status = unsafe opener.limit.openAsUsual(context, io, name, flags, options)
                if status >= 0 { opener.others.insert(UInt(bitPattern: unsafe io!.pointee)) }
                return status
            }
            guard let input = SourceInput(source) else { return cav_error(ENOMEM) }
            // Kept until it is closed.
            unsafe io!.pointee = Unmanaged.passRetained(input).takeUnretainedValue().io
            return 0
        }
        unsafe context.pointee.io_close2 = { context, io in
            // A demuxer inside another one may have the function without the pointer.
            if let opaque = unsafe context?.pointee.opaque {
                let opener = unsafe Unmanaged<Opener>.fromOpaque(opaque).takeUnretainedValue()
                if opener.others.remove(UInt(bitPattern: io)) != nil { return unsafe avio_close(io) }
            }
            unsafe Unmanaged<SourceInput>.fromOpaque(io!.pointee.opaque).release()
            return 0
        }
    }

    /// Opens further inputs for one film. It must outlive the format context.
    final class Opener {
        private let source: any FilmBytes
        private let name: String
        /// The film named something that it may not open.
        private(set) var hasRefused = false
        let limit = OpenLimit()

        /// The addresses of what libavformat has opened itself and not closed.
        fileprivate var others: Set<UInt> = []
        /// What the source refuses libavformat opens itself.
        let libraryOpensOthers: Bool

        /// - Parameter name: The film's own name, which may always be opened again.
        init(_ source: any FilmBytes, name: String, libraryOpensOthers: Bool) {
            self.source = source
            self.name = name
            self.libraryOpensOthers = libraryOpensOthers
        }

        /// The source will not have the film played.
        fileprivate var isForbidden: Bool { source.objection != nil }

        fileprivate func open(_ name: String) -> OtherSource {
            if name == self.name { return source.again() }
            let other = source.open(name)
            if case .refused = other, !libraryOpensOthers { hasRefused = true }
            return other
        }
    }
}
