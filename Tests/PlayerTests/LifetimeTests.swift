import DisplaySink
import Glibc
import Player
import TestSupport
import Testing

@Suite struct LifetimeTests {
    /// The last reference is then that of a command under way on the player's own queue.
    @Test func `a player may be let go while it carries out commands`() throws {
        for _ in 0..<20 {
            var configuration = PlayerConfiguration()
            configuration.playsAudio = false
            weak var gone: Player?
            do {
                let player = Player(sink: HeadlessSink(), configuration: configuration)
                try player.open(TestAssets.path("plain.mp4"))
                player.close()
                for _ in 0..<200 { player.togglePlaying() }
                gone = player
            }
            while gone != nil { usleep(100) }
        }
    }
}
