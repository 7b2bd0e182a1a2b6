internal import Glibc
internal import Media

/// Passes on what a server on 127.0.0.1 sends to each who connects over TCP, until the connections are reset.
public final class ResettingRelay: Sendable {
    private struct State {
        var connections: [Int32] = []
        var threads: [LoopThread] = []
        var isStopped = false
    }

    private let listener: Int32
    private let target: UInt16
    private let state = Monitor(State())
    public let port: UInt16

    /// - Parameter target: The server's port.
    public init(to target: UInt16) throws {
        (listener, port) = LyingServer.listen()
        self.target = target
        let thread = LoopThread(name: "relay") { [self] in accept() }
        state.withLock { $0.threads.append(thread) }
    }

    /// Ends every connection with RST, as a machine does that knows nothing of it. Whoever connects later is served.
    public func reset() {
        state.withLock { state in
            for connection in state.connections {
                var linger = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
                // Its thread closes it, and with that the reset goes out.
                shutdown(connection, Int32(SHUT_RD))
            }
        }
    }

    /// Ends everything.
    public func stop() {
        state.withLock { $0.isStopped = true }
        reset()
        shutdown(listener, Int32(SHUT_RDWR))
        for thread in state.withLock({ $0.threads }) { thread.join() }
        close(listener)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            let server = connect()
            guard server >= 0 else {
                close(client)
                continue
            }
            let thread = LoopThread(name: "relayed") { [self] in pass(from: server, to: client) }
            state.withLock { state in
                state.connections.append(client)
                state.threads.append(thread)
            }
        }
    }

    /// A connection to the server; below zero: nobody serves there.
    private func connect() -> Int32 {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = target.bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(server, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if status == 0 { return server }
        close(server)
        return -1
    }

    private func pass(from server: Int32, to client: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        pass: while true {
            var places = [pollfd(fd: server, events: Int16(POLLIN), revents: 0), pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
            if unsafe poll(&places, 2, -1) < 0, errno == EINTR { continue }
            // The client says nothing: it has gone, or was reset.
            if places[1].revents != 0 { break }
            let count = unsafe recv(server, &bytes, bytes.count, 0)
            if count <= 0 { break }
            var sent = 0
            while sent < count {
                let more = unsafe bytes.withUnsafeBytes { unsafe send(client, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL)) }
                if more <= 0 { break pass }
                sent += more
            }
        }
        state.withLock { state in
            state.connections.removeAll { $0 == client }
            close(client)
        }
        close(server)
    }
}
