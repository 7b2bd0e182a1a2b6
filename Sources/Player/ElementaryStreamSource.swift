internal import Bitstream
internal import Demuxing
internal import Glibc
internal import Media
internal import SampleQueue

/// Start-code bytes from a file, a pipe or an address as a sample source. It cannot seek.
@safe
final class ElementaryStreamSource: SampleSource, @unchecked Sendable {
    private enum Origin {
        case descriptor(Descriptor)
        case address(AssetBytes, AssetCancellation)
    }

    /// What is read, and what ends a wait for it.
    private final class Descriptor {
        let file: OwnedFD
        let wake: EventFD

        init(_ file: consuming OwnedFD, _ wake: EventFD) {
            self.file = file
            self.wake = wake
        }
    }

    private let reader: ElementaryStreamReader
    private let origin: Origin
    private let name: String
    /// Of an address, bytes that have been read, and where they ended.
    private var offset: Int64 = 0
    private let buffer: UnsafeMutableRawBufferPointer
    private var atEnd = false
    private let cancelled = Monitor(false)

    /// Bytes asked of one `read(2)`: a pipe's capacity.
    private static let chunk = 65_536
    /// 64 MB: a frame of 8K without compression has less. So what never ends without holding a frame is an error.
    private static let longest = 64 << 20

    /// Reads `place`: a file, an address (`tcp://host:port`, `unix:path`), or standard input when it is `-`. Times are counted at the rate the stream
    /// states, else 25 a second.
    init(_ place: String, codec: NALCodec, _ options: AssetReaderOptions) throws(AssetError) {
        reader = ElementaryStreamReader(codec: codec)
        if place.contains("://") || place.hasPrefix("unix:") {
            origin = .address(try AssetBytes(place, options: options), options.cancellation)
            name = place
        } else {
            origin = try Self.descriptor(of: place)
            name = place == "-" ? "standard input" : place
        }
        unsafe buffer = .allocate(byteCount: Self.chunk, alignment: 16)
    }

    private static func descriptor(of path: String) throws(AssetError) -> Origin {
        let wake: EventFD
        do { wake = try EventFD() } catch { throw AssetError(.cannotOpen, "\(path): cannot be read: \(error).") }
        // Does not wait for the writer of a FIFO here: the wait must be one that can be cancelled.
        let fd = path == "-" ? dup(STDIN_FILENO) : unsafe path.withPath { unsafe open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        guard fd >= 0 else { throw AssetError.opening(path, errno) }
        return .descriptor(Descriptor(OwnedFD(adopting: fd), wake))
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
            guard let count = try read() else { return nil }
            if count > 0 {
                searched += count
                unsafe reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else {
                atEnd = true
                reader.finish()
            }
        }
    }

    /// Fills the buffer: with how many bytes; 0 at the end; nil when cancelled. Blocks.
    private func read() throws(AssetError) -> Int? {
        switch origin {
        case .address(let bytes, let cancellation):
            let count = unsafe bytes.read(into: buffer, at: offset)
            if cancellation.isCancelled { return nil }
            if count < 0 || (count == 0 && bytes.loss != nil) { throw AssetError(.cutShort, "\(name): \(bytes.loss ?? "cannot be read further").") }
            offset += Int64(count)
            return count
        case .descriptor(let descriptor):
            while waitReadable(descriptor) {
                let count = unsafe Glibc.read(descriptor.file.rawValue, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                if errno != EINTR && errno != EAGAIN { throw AssetError.reading(name, errno) }
            }
            return nil
        }
    }

    func seek(to time: MediaTime) throws(AssetError) { throw AssetError.notSeekable(name) }

    func cancel() {
        cancelled.change { $0 = true }
        switch origin {
        case .address(_, let cancellation): cancellation.cancel()
        case .descriptor(let descriptor): descriptor.wake.signal()
        }
    }

    /// False when cancelled.
    private func waitReadable(_ descriptor: Descriptor) -> Bool {
        while !cancelled.withLock({ $0 }) {
            var descriptors = [
                PollDescriptor(fd: descriptor.file.rawValue, interest: .readable), PollDescriptor(fd: descriptor.wake.rawValue, interest: .readable),
            ]
            if let ready = try? pollDescriptors(&descriptors), ready > 0, !descriptors[0].ready.isEmpty { return true }
        }
        return false
    }
}
