internal import CLinux
internal import Confinement
internal import Glibc
internal import Sandbox
internal import Subtitles

// Draws subtitles for one player, which starts it with a connected socket as descriptor 3: gives up most rights, finds the system's fonts, gives up
// the rest but reading those fonts, then draws what it is told.

guard clinux_is_packet_socket(3) != 0 else {
    print("\(SandboxProgram.subtitles.name) is started by the player, not by hand.")
    exit(64)
}
draw()

func draw() -> Never {
    let confinement = Confinement.begin(.reading)
    guard let service = SubtitleService(work: 3) else { exit(71) }
    service.run(confinement.complete(reading: FontFolders.all()))
}
