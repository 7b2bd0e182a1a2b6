internal import Foundation
internal import Media

// What a lying server answers.

extension LyingServer {
    /// How the connection ends once the answer's bytes have been sent.
    public enum Ending: Sendable {
        case close
        /// With RST.
        case reset
        /// Not at all, until the client goes or the server stops.
        case stall
        /// Not at all: another request may follow.
        case keep
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
}
