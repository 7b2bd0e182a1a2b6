internal import Glibc
internal import Media
internal import Sandbox

/// What a client asks before it takes frames: for one of the films of a server that has several, or which those are.
struct RemoteFilmChoice: Sendable {
    let path: String
    let connection: RemoteConnection
    /// How long an answer may take.
    private static let patience = HostSpan.seconds(5)

    /// Makes the film with this name the one whose frames come.
    /// - Throws: `.unsupported` where there is none, or the server has films without names only.
    func choose(_ name: String) throws(ExportError) {
        let answer = try ask(UnixFDCommand.film(name))
        if answer.command == .film { return }
        let names = Self.names(in: answer.payload).map { "\"\($0)\"" }
        let others = names.isEmpty ? "it has one without a name" : "there is \(names.joined(separator: ", "))"
        throw ExportError(.unsupported, "\(path): there is no film \"\(name)\"; \(others).")
    }

    /// The names of the films, without the first one, which has none.
    func names() throws(ExportError) -> [String] { Self.names(in: try ask(UnixFDCommand.films([])).payload) }

    private static func names(in payload: [UInt8]) -> [String] {
        payload.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Sends a question and reads up to its answer. Frames that come before are given back: they belong to the first film.
    private func ask(_ question: [UInt8]) throws(ExportError) -> UnixFDParser.Message {
        guard connection.socket.send(question) == .whole else { throw ExportError(.closed, "\(path): the server is gone.") }
        var parser = UnixFDParser(payloadLimit: 4 << 20)
        let deadline = MonotonicClock.shared.now() + Self.patience
        while true {
            switch connection.socket.receive(max(parser.wanted, 1)) {
            case .bytes(let bytes, let fds):
                for descriptor in fds { close(descriptor) }
                parser.append(bytes)
                guard let message = try parser.next() else { continue }
                switch message.command {
                case .film, .films: return message
                case .newBuffer: connection.release(try UnixFDBuffer(payload: message.payload).id)
                default: continue
                }
            case .closed: throw ExportError(.unsupported, "\(path): this server's films have no names.")
            case .nothing:
                var descriptors = [PollDescriptor(fd: connection.socket.rawValue, interest: .readable)]
                guard let count = try? pollDescriptors(&descriptors, until: deadline), count > 0 else {
                    throw ExportError(.unsupported, "\(path): this server's films have no names.")
                }
            }
        }
    }
}
