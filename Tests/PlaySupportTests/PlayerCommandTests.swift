import DisplaySink
import Media
import Testing

@testable import PlaySupport

@Suite struct PlayerCommandTests {
    @Test(arguments: [
        (PlayerKey.space, PlayerCommand.togglePlaying), (.q, .quit), (.f, .toggleFullscreen), (.m, .toggleMute), (.o, .showStatus),
        (.left, .seek(by: MediaTime(value: -5, timescale: 1))), (.right, .seek(by: MediaTime(value: 5, timescale: 1))),
        (.up, .seek(by: MediaTime(value: 60, timescale: 1))), (.down, .seek(by: MediaTime(value: -60, timescale: 1))),
        (.period, .stepForward), (.comma, .stepBackward), (.nine, .changeVolume(by: -0.05)), (.zero, .changeVolume(by: 0.05)),
        (.leftBracket, .multiplyRate(by: 1 / 1.1)), (.rightBracket, .multiplyRate(by: 1.1)), (.backspace, .resetRate), (.escape, .quit),
        (.enter, .next), (.greater, .next), (.less, .previous), (.p, .togglePlaying), (.slash, .changeVolume(by: -0.05)),
        (.asterisk, .changeVolume(by: 0.05)), (.leftBrace, .multiplyRate(by: 0.5)), (.rightBrace, .multiplyRate(by: 2)),
        (.pageUp, .moveChapter(by: 1)), (.pageDown, .moveChapter(by: -1)), (.shiftLeft, .seek(by: MediaTime(value: -1, timescale: 1))),
        (.shiftRight, .seek(by: MediaTime(value: 1, timescale: 1))), (.shiftUp, .seek(by: MediaTime(value: 5, timescale: 1))),
        (.shiftDown, .seek(by: MediaTime(value: -5, timescale: 1))),
    ])
    func `each key stands for what mpv's users expect`(_ key: PlayerKey, _ command: PlayerCommand) {
        #expect(PlayerCommand(key, isFullscreen: false) == command)
    }

    @Test func `Escape leaves the full screen before it leaves the film`() {
        #expect(PlayerCommand(.escape, isFullscreen: true) == .leaveFullscreen)
        #expect(PlayerCommand(.escape, isFullscreen: false) == .quit)
    }

    @Test(arguments: [(0.5, 0.05, 0.55), (0.98, 0.05, 1), (0.02, -0.05, 0), (1.3, 0.05, 1.3), (1.3, -0.05, 1.25)])
    func `volume stays between silence and full, or where it was above`(_ from: Double, _ change: Double, _ to: Double) {
        #expect(abs(PlayerCommand.volume(from, changedBy: change) - to) < 1e-9)
    }

    @Test(arguments: [(1.0, 1.1, 1.1), (15.9, 1.1, 16), (0.105, 1 / 1.1, 0.1)])
    func `speed stays between a tenth and sixteen times`(_ from: Double, _ factor: Double, _ to: Double) {
        #expect(abs(PlayerCommand.rate(from, multipliedBy: factor) - to) < 1e-9)
    }
}
