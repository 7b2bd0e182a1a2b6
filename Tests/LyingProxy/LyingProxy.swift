import Glibc
import Lies
import Media
import Sandbox

/// Stands between a player and a process without rights, and changes what the process says.
///
/// It is started in the place of `FOLDER/scanout-decoder` or `-demuxer`, as the player starts that, starts `FOLDER/real/…` of the same name, and
/// passes messages and descriptors on in both directions. Of the process's messages it changes some; each is a line of `FOLDER/changes`.
@main struct LyingProxy {
    /// One message in so many is changed. A demuxer that lies about the film's head ends the film.
    private let rate: Int
    private let player: [PacketSocket]
    private let process: SandboxedProcess
    private var liar: Liar
    private let log: Int32

    static func main() {
        guard let path = CommandLine.arguments.first, let slash = path.lastIndex(of: "/") else { exit(64) }
        let folder = path[...slash], name = path[path.index(after: slash)...]
        guard let process = try? SandboxedProcess.start("\(folder)real/\(name)") else { exit(69) }
        let log = unsafe open("\(folder)changes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        var proxy = LyingProxy(process, log, rate: name.hasSuffix("demuxer") ? 60 : 6, seed: UInt64(getpid()) &* 0x9e37_79b9)
        // The process has gone, or the player: the other learns of it when this one goes.
        try? proxy.pass()
        exit(0)
    }

    private init(_ process: SandboxedProcess, _ log: Int32, rate: Int, seed: UInt64) {
        player = [3, 4].map { PacketSocket(adopting: OwnedFD(adopting: $0)) }
        self.process = process
        self.log = log
        self.rate = rate
        liar = Liar(seed: seed)
    }

    /// Until one of the two has gone.
    private mutating func pass() throws {
        let pairs = [(player[0], process.work), (player[1], process.memory), (process.work, player[0]), (process.memory, player[1])]
        var waiting = pairs.map { PollDescriptor(fd: $0.0.rawValue, interest: .readable) }
        while true {
            _ = try pollDescriptors(&waiting)
            for (index, pair) in pairs.enumerated() where !waiting[index].ready.isEmpty {
                switch try pair.0.receive() {
                case .nothing: break
                case .end: return
                case .message(let bytes, var descriptors):
                    var owned: [Int32] = []
                    if let first = descriptors.takeFirst() { owned.append(first.take()) }
                    if let second = descriptors.takeSecond() { owned.append(second.take()) }
                    if let third = descriptors.takeThird() { owned.append(third.take()) }
                    defer { for number in owned { close(number) } }
                    let isLie = index >= 2 && liar.isInTheMood(oneIn: rate)
                    for (bytes, takesDescriptors) in isLie ? liar.lies(about: bytes) : [(bytes, true)] {
                        var writer = WireWriter()
                        writer.put(bytes: bytes)
                        try pair.1.send(writer, descriptors: takesDescriptors ? owned : [], waits: true)
                    }
                    if isLie { note(bytes) }
                    if index >= 2 { liar.remember(bytes) }
                }
            }
        }
    }

    private func note(_ bytes: [UInt8]) {
        let line = "\(liar.last) " + bytes.map { String($0, radix: 16) }.joined(separator: ",") + "\n"
        _ = unsafe line.withCString { unsafe write(log, $0, strlen($0)) }
    }
}
