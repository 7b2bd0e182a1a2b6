internal import Glibc
internal import Media

/// The path of a socket that a server has made, so that the server removes its own socket and never another's that has taken the path meanwhile.
package struct SocketPath: Sendable {
    package let path: String
    private let found: (device: dev_t, inode: ino_t)?

    /// To be made just after the socket.
    package init(_ path: String) {
        self.path = path
        found = Self.identity(path)
    }

    /// Removes the socket, if the path still names it.
    package func remove() {
        guard let found, let now = Self.identity(path), now == found else { return }
        _ = unsafe path.withPath { unsafe unlink($0) }
    }

    private static func identity(_ path: String) -> (device: dev_t, inode: ino_t)? {
        var status = stat()
        guard unsafe path.withPath({ unsafe lstat($0, &status) }) == 0 else { return nil }
        return (status.st_dev, status.st_ino)
    }
}
