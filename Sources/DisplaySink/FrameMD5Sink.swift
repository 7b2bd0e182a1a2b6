internal import CAV
internal import Glibc
internal import Media
public import SurfacePool

/// Writes one line of MD5 a frame, in the format of FFmpeg's `framemd5`, so that two decoders can be compared with `diff`.
///
/// The checksum covers the picture in the decoder's own pixel format, cropped and not rotated, plane after plane without
/// padding. Times are in the stream's own time base. Every frame is written, whatever the clock says.
public final class FrameMD5Sink: DisplaySink {
    public let name = "md5"
    public let pacing = Pacing.untimed
    /// The frame being read.
    public let surfaceHoldCount = 1
    public let preferredAllocator: any SurfaceAllocator = MemfdAllocator()
    public let conversion: ConversionReport? = nil
    private let loop: PresentLoop
    private let output: FrameMD5Output

    /// Creates (and empties) the file at `path`; `-` is standard output. An error names the file and the cause.
    public init(path: String) throws(SinkError) {
        loop = try PresentLoop()
        let fd = path == "-" ? dup(STDOUT_FILENO) : unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard fd >= 0 else { throw SinkError(.cannotCreate, "\(path): cannot write checksums: \(unsafe String(cString: strerror(errno))).") }
        output = FrameMD5Output(descriptor: OwnedFD(adopting: fd), name: path == "-" ? "standard output" : path)
    }

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        loop.start(queue) { [self] in run(queue, events) }
    }

    public func stop() { loop.stop() }

    private func run(_ queue: PresentationQueue, _ events: (SinkEvent) -> Void) {
        let hash = FrameHash()
        var isBroken = false
        while !loop.isStopping {
            let now = MonotonicClock.shared.now()
            switch queue.next(for: DisplayInterval(deadline: now, nextDeadline: now)) {
            case .show(let frame, let isFirst):
                if isFirst { events(.firstFrameShown(now)) }
                queue.didPresent(sequence: frame.sequence, at: now)
                guard !isBroken else { continue }
                do {
                    try output.write(frame, digest: hash.digest(of: frame))
                } catch {
                    isBroken = true
                    events(.failed(error))
                }
            case .finished:
                if !isBroken {
                    do { try output.flush() } catch {
                        isBroken = true
                        events(.failed(error))
                    }
                }
                events(.finished)
            case .removeImage: break
            case .keep: loop.sleep(until: nil)
            }
        }
        if !isBroken { try? output.flush() }
    }
}

/// The text of a `framemd5` file. Used by one thread.
private final class FrameMD5Output: @unchecked Sendable {
    private let descriptor: OwnedFD
    private let name: String
    private var pending: [UInt8] = []
    private var hasHeader = false

    init(descriptor: consuming OwnedFD, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    func write(_ frame: borrowing VideoFrame, digest: String) throws(SinkError) {
        if !hasHeader {
            hasHeader = true
            let aspect = frame.attributes.pixelAspect
            pending += """
                #format: frame checksums
                #version: 2
                #hash: MD5
                #software: play
                #tb 0: \(frame.sourceTimeBase)
                #media_type 0: video
                #codec_id 0: rawvideo
                #dimensions 0: \(frame.visible.size)
                #sar 0: \(aspect)
                #stream#, dts,        pts, duration,     size, hash

                """.utf8
        }
        let size = frame.pixelFormat.byteCount(width: frame.visible.width, height: frame.visible.height)
        let base = frame.sourceTimeBase
        let duration = frame.duration.isNumeric && base.isKnown
            ? frame.duration.multiplied(by: Int64(base.denominator)).multiplied(by: Ratio(1, base.numerator)).converted(to: 1).value : 0
        let time = frame.sourceTimestamp.map(String.init) ?? "NOPTS"
        pending += "0, \(Self.pad(time, 10)), \(Self.pad(time, 10)), \(Self.pad(String(duration), 8)), \(Self.pad(String(size), 8)), \(digest)\n".utf8
        if pending.count > 32_768 { try flush() }
    }

    func flush() throws(SinkError) {
        var rest = pending[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SinkError(.cannotCreate, "\(name): cannot write checksums: \(unsafe String(cString: strerror(errno))).")
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.utf8.count, 0)) + text
    }
}
