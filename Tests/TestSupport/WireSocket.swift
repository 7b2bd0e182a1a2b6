import Glibc
import Media

/// One end of a Wayland connection: whole messages with the descriptors that travel beside them.
///
/// Source: "Wire Format" of the Wayland protocol's documentation, `unix(7)` for descriptors.
final class WireSocket {
    /// A message as it travels: the object's number, the operation, and what follows.
    struct Message {
        var object: UInt32
        var operation: UInt16
        var words: [UInt32]

        init(object: UInt32, operation: UInt16, words: [UInt32] = []) {
            self.object = object
            self.operation = operation
            self.words = words
        }

        /// A string as an argument: its length with the zero at its end, and its bytes, filled up to whole words.
        static func words(_ text: String) -> [UInt32] {
            let bytes = Array(text.utf8) + [UInt8](repeating: 0, count: 4 - text.utf8.count % 4)
            var words = [UInt32(text.utf8.count + 1)]
            for start in stride(from: 0, to: bytes.count, by: 4) {
                let word: UInt32 = bytes[start..<(start + 4)].reversed().reduce(0) { word, byte in word << 8 | UInt32(byte) }
                words.append(word)
            }
            return words
        }

        /// A string argument that begins at `index`, and the index after it.
        func string(at index: Int) -> (String, Int) {
            let length = Int(words[index])
            let bytes = words[(index + 1)..<(index + 1 + (length + 3) / 4)].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            }
            return (String(decoding: bytes.prefix(max(length - 1, 0)), as: UTF8.self), index + 1 + (length + 3) / 4)
        }
    }

    let descriptor: Int32
    private var unread: [UInt32] = []
    private var partial: [UInt8] = []
    /// Descriptors received and not yet passed on, in their order.
    var descriptors: [Int32] = []

    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        close(descriptor)
    }

    /// A connection to a socket's path; nil when nobody listens.
    static func connect(to path: String) -> WireSocket? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let socket = WireSocket(adopting: descriptor)
        return unsafe withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) } == 0 ? socket : nil
    }

    /// A socket at a path that others connect to; whoever sees the path is let in.
    static func listen(at path: String) -> WireSocket? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let socket = WireSocket(adopting: descriptor)
        let hidden = "\(path)-"
        guard unsafe withAddress(hidden, { unsafe bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 4) == 0,
            unsafe rename(hidden, path) == 0
        else { return nil }
        return socket
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { unsafe bytes[index] = byte }
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// 28: what libwayland sends at most beside one piece.
    private static let mostDescriptors = 28
    /// A `cmsghdr` is 16 bytes on 64-bit machines.
    private static let headerSize = 16

    /// Takes in what has arrived; false when the other end has gone.
    func receive() -> Bool {
        var data = [UInt8](repeating: 0, count: 65536)
        var control = [UInt64](repeating: 0, count: (Self.headerSize + 4 * Self.mostDescriptors) / 8)
        let count = unsafe data.withUnsafeMutableBytes { data in
            unsafe control.withUnsafeMutableBytes { control in
                var vector = unsafe iovec(iov_base: data.baseAddress, iov_len: data.count)
                return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                    var header = unsafe msghdr()
                    unsafe header.msg_iov = vector
                    unsafe header.msg_iovlen = 1
                    unsafe header.msg_control = control.baseAddress
                    unsafe header.msg_controllen = control.count
                    let count = unsafe recvmsg(descriptor, &header, Int32(MSG_CMSG_CLOEXEC))
                    if unsafe count > 0 && header.msg_controllen > Self.headerSize {
                        let length = unsafe Int(control.load(as: UInt.self))
                        for offset in stride(from: Self.headerSize, to: length, by: 4) {
                            unsafe descriptors.append(control.load(fromByteOffset: offset, as: Int32.self))
                        }
                    }
                    return count
                }
            }
        }
        guard count > 0 else { return false }
        partial.append(contentsOf: data.prefix(count))
        let whole = partial.count / 4 * 4
        for start in stride(from: 0, to: whole, by: 4) {
            var word: UInt32 = 0
            for byte in partial[start..<start + 4].reversed() { word = word << 8 | UInt32(byte) }
            unread.append(word)
        }
        partial.removeFirst(whole)
        return true
    }

    /// The next whole message that has arrived.
    func next() -> Message? {
        guard unread.count >= 2 else { return nil }
        let count = Int(unread[1] >> 16) / 4
        guard unread.count >= count else { return nil }
        let message = Message(object: unread[0], operation: UInt16(truncatingIfNeeded: unread[1]), words: Array(unread[2..<count]))
        unread.removeFirst(count)
        return message
    }

    /// Sends a message, and all of `descriptors` beside it.
    func send(_ message: Message, with descriptors: [Int32] = []) {
        let words = [message.object, UInt32(8 + 4 * message.words.count) << 16 | UInt32(message.operation)] + message.words
        var control = [UInt64](repeating: 0, count: (Self.headerSize + 4 * descriptors.count + 7) / 8)
        unsafe words.withUnsafeBytes { data in
            unsafe control.withUnsafeMutableBytes { control in
                unsafe control.storeBytes(of: UInt(Self.headerSize + 4 * descriptors.count), as: UInt.self)
                unsafe control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
                // SCM_RIGHTS.
                unsafe control.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
                for (index, descriptor) in descriptors.enumerated() {
                    unsafe control.storeBytes(of: descriptor, toByteOffset: Self.headerSize + 4 * index, as: Int32.self)
                }
                var sent = 0
                while sent < data.count {
                    var vector = unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: data.baseAddress! + sent), iov_len: data.count - sent)
                    let count = unsafe withUnsafeMutablePointer(to: &vector) { vector in
                        var header = unsafe msghdr()
                        unsafe header.msg_iov = vector
                        unsafe header.msg_iovlen = 1
                        if sent == 0, !descriptors.isEmpty {
                            unsafe header.msg_control = control.baseAddress
                            unsafe header.msg_controllen = control.count
                        }
                        return unsafe sendmsg(self.descriptor, &header, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    sent += count
                }
            }
        }
        for descriptor in descriptors { close(descriptor) }
    }
}
