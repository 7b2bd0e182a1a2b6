internal import CLinux
internal import Confinement
internal import Decoding
internal import Glibc
internal import Sandbox

// A decoder for one player, which starts it with two connected sockets as descriptors 3 and 4: gives up every right that decoding can do
// without, then decodes; on the render node that is descriptor 5, if there is one, whose driver is loaded before the last of those rights are
// gone. With `--attempt NAME` it tries something forbidden instead, to show that it cannot.

// Arguments come second: Swift looks for them in /proc/self/maps, which takes a millisecond with a hundred libraries.
if clinux_is_packet_socket(3) != 0, clinux_is_packet_socket(4) != 0 {
    guard clinux_is_open(5) != 0 else { DecoderService(work: 3, memory: 4).run(Confinement.enter()) }
    driveDevice(5)
}
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--attempt", let name = arguments.dropFirst().first, let attempt = Attempt(rawValue: name) {
    if attempt == .seals { precondition(Attempt.sealable == 3) }
    let report =
        switch arguments.last {
        case "hardware": Confinement.enter(.hardware)
        case "reading": Confinement.begin(.reading).complete(reading: ["/usr/share/fonts"])
        default: Confinement.enter()
        }
    exit(attempt.run(report))
}
print(
    "\(SandboxProgram.decoder.name) is started by the player, not by hand; "
        + "--attempt \(Attempt.allCases.map(\.rawValue).joined(separator: "|")) [hardware|reading] "
        + "tries the sandbox, or the one for a process that drives a device or reads fonts."
)
exit(64)

func driveDevice(_ node: Int32) -> Never {
    let confinement = Confinement.begin(.hardware)
    let service = DecoderService(work: 3, memory: 4, device: GrantedDevice(descriptor: node))
    service.run(confinement.complete())
}
