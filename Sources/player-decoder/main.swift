internal import Decoding
internal import Glibc

// A decoder for one player, which starts it with two connected sockets as descriptors 3 and 4: gives up every right that decoding can do
// without, then decodes; with `--demux`, reads a container. With `--attempt NAME` it tries something forbidden instead, to show that it cannot.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--attempt", let name = arguments.dropFirst().first, let attempt = Attempt(rawValue: name) {
    let report = Confinement.enter()
    exit(attempt.run(report))
}
let isDemuxer = Array(arguments) == [DecoderProgram.demux]
guard arguments.isEmpty || isDemuxer, fcntl(3, F_GETFD) != -1, fcntl(4, F_GETFD) != -1 else {
    print(
        "\(DecoderProgram.name) is started by the player, not by hand; --attempt \(Attempt.allCases.map(\.rawValue).joined(separator: "|")) tries the sandbox."
    )
    exit(64)
}
if isDemuxer { DemuxerService(work: 3).run(Confinement.enter()) }
DecoderService(work: 3, memory: 4).run(Confinement.enter())
