internal import CLinux
internal import Confinement
internal import Demuxing
internal import Glibc
internal import Sandbox

// A demuxer for one player, which starts it with a connected socket as descriptor 3: gives up every right that reading a container can do
// without, then reads the one whose bytes it is given.

guard clinux_is_packet_socket(3) != 0 else {
    print("\(SandboxProgram.demuxer.name) is started by the player, not by hand.")
    exit(64)
}
DemuxerService(work: 3).run(Confinement.enter())
