internal import Foundation
internal import Glibc
internal import Media

/// A place to open a film from that never says a word: who opens it waits.
public final class SilentSource: Sendable {
    public enum Kind: Sendable, CaseIterable {
        /// The kernel takes the connection, nobody answers it.
        case server
        /// Nobody writes to it.
        case fifo
    }

    public let location: String
    private let listener: OwnedFD?
    private let fifo: String?

    public init(_ kind: Kind) {
        switch kind {
        case .server:
            let (socket, port) = LyingServer.listen()
            listener = OwnedFD(adopting: socket)
            (fifo, location) = (nil, "http://127.0.0.1:\(port)/film.mp4")
        case .fifo:
            let path = NSTemporaryDirectory() + "silent-\(UUID().uuidString.prefix(8))"
            precondition(unsafe mkfifo(path, 0o600) == 0, "no FIFO")
            listener = nil
            (fifo, location) = (path, path)
        }
    }

    deinit { if let fifo { unsafe unlink(fifo) } }
}
