/// What comes from a server, between libcurl, which brings as much as there is, and a reader, who takes as much as he wants.
///
/// Thread-safety: one thread at a time.
@safe
final class HTTPInbox {
    private(set) var head = HTTPHead()
    /// What did not fit where the reader wanted it: up to 1.6 MB, as libcurl goes on while there is more.
    private var rest: [UInt8] = []
    private var taken = 0
    private var target: UnsafeMutableRawBufferPointer?
    private var filled = 0

    /// Bytes are here that nobody has read.
    var hasBytes: Bool { taken < rest.count }

    func reset() {
        head = HTTPHead()
        (taken, filled) = (0, 0)
        rest.removeAll(keepingCapacity: false)
        unsafe target = nil
    }

    /// Moves bytes to the reader: those that are here, else what `bring` brings; 0 where it brings none.
    func take<Failure: Error>(into buffer: UnsafeMutableRawBufferPointer, bring: () throws(Failure) -> Void) throws(Failure) -> Int {
        if hasBytes {
            let count = min(buffer.count, rest.count - taken)
            unsafe rest.withUnsafeBytes { unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
            taken += count
            if !hasBytes {
                taken = 0
                rest.removeAll(keepingCapacity: true)
            }
            return count
        }
        unsafe target = buffer
        filled = 0
        defer { unsafe target = nil }
        try bring()
        return filled
    }

    /// Bytes have come into the reader's buffer.
    var hasFilled: Bool { filled > 0 }

    // MARK: From libcurl

    /// A line of the head; false ends the transfer.
    func add(line: UnsafeRawBufferPointer) -> Bool {
        head.add(unsafe String(decoding: line, as: UTF8.self), byteCount: line.count)
        return head.byteCount <= HTTPHead.longest
    }

    func add(bytes: UnsafeRawBufferPointer) {
        var bytes = unsafe bytes
        if let target = unsafe target, rest.isEmpty, filled < target.count {
            let count = min(bytes.count, target.count - filled)
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            filled += count
            unsafe bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        }
        unsafe rest.append(contentsOf: bytes)
    }

    /// What a server says beside its refusal is read, so that its connection can be used again, and forgotten.
    func forgetBytes() {
        taken = 0
        rest.removeAll(keepingCapacity: true)
    }
}
