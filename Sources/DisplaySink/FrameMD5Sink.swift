internal import Glibc
internal import Media
public import PixelConversion
public import SurfacePool

/// Writes one MD5 line per frame in the format of FFmpeg's `framemd5`, so that two decoders can be compared with `diff`.
///
/// The checksum covers the frame in the decoder's pixel format, cropped but not rotated, plane by plane without padding. Times are those of the
/// container, in its time base. The duration is the frame's own, where FFmpeg writes that of the average frame rate. Every frame is written,
/// whatever the clock says. The work is done inside the decoder's `enqueue`.
///
/// Thread-safety: as the protocol requires.
public final class FrameMD5Sink: DisplaySink {
    /// `md5`.
    public let name = "md5"
    /// Always `.untimed`: every frame is hashed as soon as it is decoded.
    public var pacing: Pacing { .untimed }
    /// A frame is read before `enqueue` returns.
    public var surfaceHoldCount: Int { 0 }
    /// Plain memory, because the CPU reads every byte.
    public var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    /// Always nil: frames are hashed in the decoder's pixel format.
    public var conversion: ConversionReport? { nil }
    private let loop = SinkLoop(.inline)
    private let output: FrameMD5Output

    /// Creates or empties the file at `path`; `-` is standard output. An error names the file and the cause.
    ///
    /// - Parameter software: The text of the header's `#software:` line, in which FFmpeg names libavformat's version. Nil leaves the line out, as
    ///   `-fflags bitexact` does.
    public init(path: String, software: String? = nil) throws(SinkError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let fd = path == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : unsafe path.withPath { unsafe open($0, flags, 0o644) }
        let name = path == "-" ? "standard output" : path
        guard fd >= 0 else { throw SinkError(.cannotCreate, "\(name): cannot write checksums: \(unsafe String(cString: strerror(errno))).") }
        output = FrameMD5Output(descriptor: OwnedFD(adopting: fd), name: name, software: software)
    }

    deinit { stop() }

    /// Hashes the frames of `queue` on the thread that enqueues them. Another film after `stop` follows in the same file, with a header of its own.
    /// Never throws; a failed write is reported once, as `SinkEvent.failed`.
    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        loop.start(queue) { [output] now in
            queue.takeAll(
                at: now,
                take: { frame in
                    output.write(frame)
                    queue.didPresent(sequence: frame.sequence, at: now)
                },
                events: { event in
                    // The file is complete when the end is reported.
                    if event == .finished { output.flush() }
                    if event != .finished || output.failure == nil { events(event) }
                })
            if let error = output.takeError() { events(.failed(error)) }
            return nil
        }
    }

    /// Stops the sink and writes the remaining lines to the file. `failure` then says whether the file is whole.
    public func stop() {
        loop.stop()
        output.endFilm()
    }

    /// Why the file is not whole; nil when it is, as far as it has been written. To be asked before the start or after `stop`.
    public var failure: SinkError? { output.failure }
}

/// Collects lines and writes them in blocks. After a failure it discards them.
///
/// Thread-safety: one thread at a time: the sink's steps, and after the last of them its owner.
private final class FrameMD5Output: @unchecked Sendable {
    /// 32 KiB: one system call for about 400 frames.
    private static let blockSize = 32_768

    private let descriptor: OwnedFD
    private let name: String
    private let software: String?
    private let hash = FrameHash()
    private var pending: [UInt8] = []
    private var text = FrameMD5Text()
    private var timeBase: Ratio?
    /// The first failure to write.
    private(set) var failure: SinkError?
    private var hasReported = false

    init(descriptor: consuming OwnedFD, name: String, software: String?) {
        self.descriptor = descriptor
        self.name = name
        self.software = software
    }

    func write(_ frame: borrowing VideoFrame) {
        guard failure == nil else { return }
        let timeBase = timeBase ?? begin(frame)
        let time = frame.sourceTimeBase == timeBase ? frame.sourceTimestamp : nil
        let row = FrameMD5Text.Row(
            time: time ?? timeBase.count(in: frame.presentationTime), duration: timeBase.count(in: frame.duration) ?? 0,
            byteCount: frame.pixelFormat.byteCount(width: frame.visible.width, height: frame.visible.height),
            digest: hash.digest(of: frame))
        pending.append(contentsOf: text.line(row).utf8)
        if pending.count >= Self.blockSize { flush() }
    }

    /// Writes the header. Returns the time base of the file.
    private func begin(_ frame: borrowing VideoFrame) -> Ratio {
        var base = frame.sourceTimeBase
        if !base.isKnown { base = Ratio(1, frame.presentationTime.isNumeric ? frame.presentationTime.timescale : 90_000) }
        timeBase = base
        let header = FrameMD5Text.header(software: software, timeBase: base, size: frame.visible.size, aspect: frame.attributes.pixelAspect)
        pending.append(contentsOf: header.utf8)
        return base
    }

    /// Writes what is left. The next frame is the first of another film.
    func endFilm() {
        flush()
        text = FrameMD5Text()
        timeBase = nil
    }

    func flush() {
        do throws(SystemError) {
            if failure == nil { try writeWhole(pending, to: descriptor.rawValue) }
        } catch {
            failure = SinkError(.cannotWrite, "\(name): cannot write checksums: \(unsafe String(cString: strerror(error.code))).")
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The failure, reported once.
    func takeError() -> SinkError? {
        defer { hasReported = failure != nil }
        return hasReported ? nil : failure
    }
}
