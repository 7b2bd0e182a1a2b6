internal import Bitstream
internal import Demuxing
internal import Glibc
internal import Media
internal import SampleQueue

/// Start-code bytes from a file, a pipe or a socket as a sample source. It cannot seek.
@safe
final class ElementaryStreamSource: SampleSource, @unchecked Sendable {
    private let reader: ElementaryStreamReader
    private let descriptor: OwnedFD
    private let wake: EventFD
    private let name: String
    private let buffer: UnsafeMutableRawBufferPointer
    private var atEnd = false
    private let cancelled = Monitor(false)

    /// Bytes asked of one `read(2)`: a pipe's capacity.
    private static let chunk = 65_536
    /// 64 MB: a frame of 8K without compression has less. So what never ends without holding a frame is an error.
    private static let longest = 64 << 20

    /// Reads `path`, or standard input when it is `-`. Times are counted at the rate the stream states, else 25 a second.
    init(path: String, codec: NALCodec) throws(AssetError) {
        do { wake = try EventFD() } catch { throw AssetError(.cannotOpen, "\(path): cannot be read: \(error).") }
        // Does not wait for the writer of a FIFO here: the wait must be one that can be cancelled.
        let fd = path == "-" ? dup(STDIN_FILENO) : unsafe path.withPath { unsafe open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        guard fd >= 0 else { throw AssetError.opening(path, errno) }
        descriptor = OwnedFD(adopting: fd)
        name = path == "-" ? "standard input" : path
        reader = ElementaryStreamReader(codec: codec)
        unsafe buffer = .allocate(byteCount: Self.chunk, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    func nextSample() throws(AssetError) -> SampleBuffer? {
        var searched = 0
        while true {
            if let sample = reader.nextSample() { return sample }
            guard searched < Self.longest else {
                throw AssetError(.damaged, "\(name): \(Self.longest >> 20) MB of it hold no frame of this codec.")
            }
            if atEnd { return nil }
            guard waitReadable() else { return nil }
            let count = unsafe read(descriptor.rawValue, buffer.baseAddress, buffer.count)
            if count > 0 {
                searched += count
                unsafe reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 {
                atEnd = true
                reader.finish()
            } else if errno != EINTR && errno != EAGAIN {
                throw AssetError.reading(name, errno)
            }
        }
    }

    func seek(to time: MediaTime) throws(AssetError) { throw AssetError.notSeekable(name) }

    func cancel() {
        cancelled.change { $0 = true }
        wake.signal()
    }

    /// False when cancelled.
    private func waitReadable() -> Bool {
        while !cancelled.withLock({ $0 }) {
            var descriptors = [
                PollDescriptor(fd: descriptor.rawValue, interest: .readable), PollDescriptor(fd: wake.rawValue, interest: .readable),
            ]
            if let ready = try? pollDescriptors(&descriptors), ready > 0, !descriptors[0].ready.isEmpty { return true }
        }
        return false
    }
}
