import AudioSink
import DisplaySink
import Glibc
import Media
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
            #expect(Polling.until { gone == nil }, "something still holds the player")
        }
    }

    /// A step that waits for a frame that never comes: the film is at its end.
    @Test func `a player that is closed with a step under way leaves nothing`() throws {
        var configuration = PlayerConfiguration()
        configuration.startsPaused = true
        configuration.audioDevice = "null"
        weak var sound: AudioRenderer?
        do {
            let player = Player(sink: HeadlessSink(), configuration: configuration)
            try player.open(TestAssets.demo)
            sound = player.audioRenderer
            #expect(sound != nil)
            for _ in 0..<20 { player.stepForward() }
            player.close()
        }
        #expect(Polling.until { sound == nil }, "something still holds what played the film")
    }
}
