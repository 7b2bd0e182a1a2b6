import Foundation
import Sandbox
import TestSupport
import Testing

/// A remote control of a program that plays: the other end of the socket of `--input-ipc-server`.
final class Remote {
    private let socket: UnixSocket
    private var buffer: [UInt8] = []
    private(set) var lines: [[String: Any]] = []

    init(_ path: String) throws {
        var found: UnixSocket?
        _ = Polling.until {
            found = try? UnixSocket.connected(path)
            return found != nil
        }
        guard let found else { throw CancellationError() }
        socket = found
    }

    func send(_ line: String) {
        let sent = socket.send(Array((line + "\n").utf8))
        #expect(sent == .whole)
    }

    /// The first line from now on that fits; nil: the program has closed the connection, or none comes.
    func line(where fits: ([String: Any]) -> Bool) -> [String: Any]? {
        var isClosed = false
        let found = Polling.until {
            if lines.contains(where: fits) { return true }
            switch socket.receive(4096, descriptorLimit: 0) {
            case .nothing: return isClosed
            case .closed: isClosed = true
            case .bytes(let bytes, _):
                buffer += bytes
                while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    if let object = try? JSONSerialization.jsonObject(with: Data(buffer[..<end])) as? [String: Any] { lines.append(object) }
                    buffer.removeSubrange(...end)
                }
            }
            return lines.contains(where: fits) || isClosed
        }
        guard found, let index = lines.firstIndex(where: fits) else { return nil }
        defer { lines.removeSubrange(...index) }
        return lines[index]
    }

    func event(_ name: String) -> [String: Any]? { line { $0["event"] as? String == name } }

    private var requests = 0

    /// The answer to a command in JSON.
    func command(_ words: String) -> [String: Any]? {
        requests += 1
        let number = requests
        send(#"{ "command": [\#(words)], "request_id": \#(number) }"#)
        return line { $0["request_id"] as? Int == number }
    }

    func get(_ property: String) -> Any? { command(#""get_property", "\#(property)""#)?["data"] }
}
