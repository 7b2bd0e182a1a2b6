internal import Foundation
internal import Glibc
internal import Media

/// A web server on 127.0.0.1 that lies as a test wants: each request is answered by a closure, which may cut, stall or falsify the answer.
///
/// It listens on a port that the kernel chooses, from `init` until `stop`. One thread a connection; HTTP/1.1, one request a connection.
public final class LyingServer: Sendable {
    /// One request, as far as tests look at it.
    public struct Request: Sendable {
        /// From 0, in the order of arrival.
        public var number: Int
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

    /// How the connection ends once the answer's bytes have been sent.
    public enum Ending: Sendable {
        case close
        /// With RST.
        case reset
        /// Not at all, until the client goes or the server stops.
        case stall
    }

    public struct Answer: Sendable {
        public var status = "200 OK"
        public var headers: [String] = []
        public var body: [UInt8] = []
        public var ending = Ending.close
        /// Bytes of the body after which nothing comes until the gate opens.
        var pause: (after: Int, gate: Gate)?
        /// Bits a second.
        var rate: (@Sendable () -> Int)?

        public init(status: String = "200 OK", headers: [String] = [], body: [UInt8] = [], ending: Ending = .close) {
            self.status = status
            self.headers = headers
            self.body = body
            self.ending = ending
        }

        /// What an honest server of a folder answers.
        public static func file(in folder: String, _ request: Request) -> Answer {
            guard let bytes = try? [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.path))) else {
                return Answer(status: "404 Not Found", headers: ["Content-Length: 0"])
            }
            return .file(bytes, request)
        }

        /// What an honest server answers: the bytes asked for, or with `ranges` false always all of them.
        public static func file(_ bytes: [UInt8], _ request: Request, ranges: Bool = true) -> Answer {
            guard ranges, let start = request.rangeStart else {
                return Answer(headers: ["Content-Length: \(bytes.count)"], body: bytes)
            }
            guard start < bytes.count else { return Answer(status: "416 Range Not Satisfiable", headers: ["Content-Length: 0"]) }
            let end = max(start, min(request.rangeEnd ?? .max, bytes.count - 1))
            return Answer(
                status: "206 Partial Content",
                headers: [
                    "Accept-Ranges: bytes", "Content-Length: \(end - start + 1)", "Content-Range: bytes \(start)-\(end)/\(bytes.count)",
                ], body: Array(bytes[start...end]))
        }

        /// The same answer, whose body stops after `count` bytes and goes on when `gate` is opened.
        public func pausing(after count: Int, until gate: Gate) -> Answer {
            var answer = self
            answer.pause = (min(max(count, 0), body.count), gate)
            return answer
        }

        /// The same answer, whose body comes no faster than so many bits a second, which are asked for again and again.
        public func limited(to rate: @escaping @Sendable () -> Int) -> Answer {
            var answer = self
            answer.rate = rate
            return answer
        }

        /// The same answer, of whose body only `count` bytes are sent.
        public func cut(after count: Int, _ ending: Ending = .close) -> Answer {
            var answer = self
            answer.body = Array(body.prefix(count))
            answer.ending = ending
            return answer
        }
    }

    /// Holds answers back until a test opens it.
    public final class Gate: Sendable {
        private let isOpen = Monitor(false)
        public init() {}
        public func open() { isOpen.change { $0 = true } }
        func wait() { let _: Void? = isOpen.wait { $0 ? () : nil } }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
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
                    state.connections.append(connection)
                    state.threads.append(LoopThread(name: "lying") { [self] in serve(connection) })
                }
                return state.isStopped
            }
            if isStopped { close(connection) }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            close(connection)
        }
        guard let request = request(of: connection) else { return }
        let answer = answer(request)
        let head = (["HTTP/1.1 \(answer.status)", "Connection: close"] + answer.headers).joined(separator: "\r\n") + "\r\n\r\n"
        let first = answer.pause?.after ?? (answer.rate == nil ? answer.body.count : 0)
        guard send(Array(head.utf8) + answer.body[..<first], connection) else { return }
        answer.pause?.gate.wait()
        guard send(answer.body[first...], connection, answer.rate) else { return }
        switch answer.ending {
        case .close:
            shutdown(connection, Int32(SHUT_WR))
            drain(connection)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        case .stall: drain(connection)
        }
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

    private func request(of connection: Int32) -> Request? {
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
            let request = Request(number: state.requests.count, path: String(words[1].dropFirst()), headers: headers)
            state.requests.append(request)
            return request
        }
    }
}
