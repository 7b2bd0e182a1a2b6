internal import Glibc
internal import Media

/// Sends the same bytes to each who connects over TCP on 127.0.0.1, and then says nothing more: as a live stream whose next second is yet to come.
public final class ByteSender: Sendable {
    private struct State {
        var connections: [Int32] = []
        var isStopped = false
    }

    private let listener: Int32
    private let state = Monitor(State())
    private let thread: Monitor<LoopThread?> = Monitor(nil)
    public let port: UInt16

    public init(_ bytes: [UInt8]) {
        (listener, port) = LyingServer.listen()
        thread.change { [self] in $0 = LoopThread(name: "byte sender") { self.serve(bytes) } }
    }

    public func address(_ scheme: String) -> String { "\(scheme)://127.0.0.1:\(port)" }

    /// Waits until somebody has connected.
    public func waitForClient() { let _: Void? = state.wait { $0.connections.isEmpty ? nil : () } }

    /// Takes no further connections.
    public func refuse() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Sends more to all who have connected.
    public func send(_ bytes: [UInt8]) { state.withLock { for connection in $0.connections { Self.send(bytes, connection) } } }

    private static func send(_ bytes: [UInt8], _ connection: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(connection, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { break }
            sent += count
        }
    }

    /// Closes all connections.
    /// - Parameter isReset: With RST, as a machine does that knows nothing of a connection.
    public func stop(resetting isReset: Bool = false) {
        // First, so that nobody who notices connects again.
        refuse()
        state.change { state in
            state.isStopped = true
            for connection in state.connections {
                var linger = linger(l_onoff: isReset ? 1 : 0, l_linger: 0)
                unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
                close(connection)
            }
            state.connections = []
        }
        thread.withLock { $0 }?.join()
        close(listener)
    }

    private func serve(_ bytes: [UInt8]) {
        while true {
            let connection = accept(listener, nil, nil)
            if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard connection >= 0 else { return }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            Self.send(bytes, connection)
            state.change { if $0.isStopped { close(connection) } else { $0.connections.append(connection) } }
        }
    }
}
