import Glibc
import Lies
import Media
import Sandbox

/// Stands between a player and a process without rights, and changes what the process says.
///
/// It is started in the place of `FOLDER/scanout-decoder` or `-demuxer`, as the player starts that, starts `FOLDER/real/…` of the same name, and
/// passes messages and descriptors on in both directions. Of the process's messages it changes some; each is a line of `FOLDER/changes`, as it came
/// and as it went.
///
/// A player ends a process whose lie it notices, which takes far longer than the lie. Three of four proxies therefore learn from those before them,
/// by `FOLDER/ended`, after which changes nobody listened any more, and mostly make others. The fourth makes any.
@main struct LyingProxy {
    /// One message in so many is changed.
    private let rate: Int
    private let log, endings: Int32
    private var liar: Liar
    /// What the last lie has changed, while it may be why the player does not go on.
    private var suspected: [Liar.Trait] = []
    /// Messages of the player since then.
    private var heard = 0

    static func main() {
        guard let path = CommandLine.arguments.first, let slash = path.lastIndex(of: "/") else { exit(64) }
        let folder = path[...slash], name = path[path.index(after: slash)...]
        guard let process = try? SandboxedProcess.start("\(folder)real/\(name)") else { exit(69) }
        let sockets = [3, 4].map { PacketSocket(adopting: OwnedFD(adopting: $0)) }
        let isDemuxer = name.hasSuffix("demuxer")
        var proxy = LyingProxy(String(folder), isDemuxer: isDemuxer, seed: UInt64(getpid()) &* 0x9e37_79b9)
        MessageRelay((sockets[0], sockets[1]), process).run { proxy.words($0, $1) }
        proxy.finish()
        exit(0)
    }

    private init(_ folder: String, isDemuxer: Bool, seed: UInt64) {
        func append(_ name: String) -> Int32 { unsafe open(folder + name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }
        liar = Liar(seed: seed)
        log = append("changes")
        let endingPath = folder + (isDemuxer ? "ended-demuxers" : "ended")
        endings = unsafe open(endingPath, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let learns = !liar.isInTheMood(oneIn: 4)
        // A demuxer that lies about the film's head ends the film, and so do three whose lies are noticed at one sample.
        rate = isDemuxer ? 60 : learns ? 3 : 6
        if learns { liar.avoided = Set(Self.words(in: endings).compactMap { Liar.Trait($0) }) }
    }

    private static func words(in file: Int32) -> [Substring] {
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < 1 << 22 {
            let count = unsafe read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    /// What is said instead of a message.
    private mutating func words(_ origin: MessageRelay.Origin, _ bytes: [UInt8]) -> MessageRelay.Words {
        guard origin != .player else {
            heard += 1
            // It has taken the answer to what it asked before, and goes on.
            if heard > 3 { suspected = [] }
            return [(bytes, true)]
        }
        defer { liar.remember(bytes) }
        guard liar.isInTheMood(oneIn: rate) else { return [(bytes, true)] }
        let words = liar.lies(about: bytes)
        (suspected, heard) = (liar.traits, 0)
        let texts = ([bytes] + words.map(\.0)).map { $0.map { String($0, radix: 16) }.joined(separator: ",") }
        Self.write("\(liar.last) " + texts.joined(separator: " ") + "\n", to: log)
        return words
    }

    private func finish() {
        if !suspected.isEmpty { Self.write(suspected.map { "\($0)\n" }.joined(), to: endings) }
    }

    private static func write(_ text: String, to file: Int32) {
        _ = unsafe text.withCString { unsafe Glibc.write(file, $0, strlen($0)) }
    }
}
