internal import Glibc
internal import Media

/// A web server on 127.0.0.1 that lies as a test wants: each request is answered by a closure, which may cut, stall or falsify the answer.
///
/// It listens on a port that the kernel chooses, from `init` until `stop`. One thread a connection; HTTP/1.1, one request a connection unless the
/// answer says otherwise.
public final class LyingServer: Sendable {
    /// One request, as far as tests look at it.
    public struct Request: Sendable {
        /// From 0, in the order of arrival.
        public var number: Int
        /// Over which connection it came, from 0.
        public var connection: Int
        public var path: String
        /// Names in lower case.
        public var headers: [String: String]

        /// The first byte asked for, where the request names one.
        public var rangeStart: Int? {
            guard let range = headers["range"], range.hasPrefix("bytes=") else { return nil }
            return Int(range.dropFirst(6).prefix { $0 != "-" })
        }

        /// The last byte asked for; nil: all to the end.
        public var rangeEnd: Int? { headers["range"].flatMap { $0.split(separator: "-", omittingEmptySubsequences: false).last.flatMap { Int($0) } } }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        var connectionCount = 0
        var threads: [LoopThread] = []
        var isStopped = false
    }

    private let listener: Int32
    private let state = Monitor(State())
    private let answer: @Sendable (Request) -> Answer
    public let port: UInt16

    public init(_ answer: @escaping @Sendable (Request) -> Answer) {
        self.answer = answer
        (listener, port) = Self.listen()
        let thread = LoopThread(name: "lying server") { [self] in accept() }
        state.withLock { $0.threads.append(thread) }
    }

    /// A socket that listens on a port of 127.0.0.1 which the kernel chooses.
    static func listen() -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let bound = unsafe bind(listener, pointer, length) == 0 && Glibc.listen(listener, 64) == 0
                return unsafe bound && getsockname(listener, pointer, &length) == 0
            }
        }
        precondition(status, "no port on 127.0.0.1")
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    public func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// What was asked so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Ends every connection and waits for the threads. Whoever connects later is refused.
    public func stop() {
        let threads = state.withLock { state in
            state.isStopped = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            return state.threads
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for thread in threads { thread.join() }
        close(listener)
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            guard connection >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            let isStopped = state.withLock { state in
                if !state.isStopped {
                    let number = state.connectionCount
                    state.connectionCount += 1
                    state.connections.append(connection)
                    state.threads.append(LoopThread(name: "lying") { [self] in serve(connection, number) })
                }
                return state.isStopped
            }
            if isStopped { close(connection) }
        }
    }

    private func serve(_ connection: Int32, _ number: Int) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            close(connection)
        }
        while let request = request(of: connection, number), send(answer(request), connection) {}
    }

    /// Whether another request may follow.
    private func send(_ answer: Answer, _ connection: Int32) -> Bool {
        let usual = answer.ending == .keep ? [] : ["Connection: close"]
        let head = (["HTTP/1.1 \(answer.status)"] + usual + answer.headers).joined(separator: "\r\n") + "\r\n\r\n"
        let first = answer.pause?.after ?? (answer.rate == nil ? answer.body.count : 0)
        guard send(Array(head.utf8) + answer.body[..<first], connection) else { return false }
        answer.pause?.gate.wait()
        guard send(answer.body[first...], connection, answer.rate) else { return false }
        switch answer.ending {
        case .close:
            shutdown(connection, Int32(SHUT_WR))
            drain(connection)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        case .stall: drain(connection)
        case .keep: return true
        }
        return false
    }

    /// Until the client closes its end.
    private func drain(_ connection: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while unsafe recv(connection, &bytes, bytes.count, 0) > 0 {}
    }

    private func send(_ bytes: ArraySlice<UInt8>, _ connection: Int32, _ rate: (@Sendable () -> Int)?) -> Bool {
        guard let rate else { return send(Array(bytes), connection) }
        var rest = bytes, credit = 0.0, last = MonotonicClock.shared.now()
        while !rest.isEmpty {
            usleep(10_000)
            let now = MonotonicClock.shared.now()
            credit += Double(rate()) / 8 * (now - last).seconds
            last = now
            guard send(Array(rest.prefix(Int(credit))), connection) else { return false }
            rest = rest.dropFirst(Int(credit))
            credit -= credit.rounded(.down)
        }
        return true
    }

    private func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(connection, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func request(of connection: Int32, _ number: Int) -> Request? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            guard unsafe recv(connection, &byte, 1, 0) == 1, bytes.count < 65_536 else { return nil }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return state.withLock { state in
            let request = Request(
                number: state.requests.count, connection: number, path: String(words[1].dropFirst()), headers: headers)
            state.requests.append(request)
            return request
        }
    }
}
