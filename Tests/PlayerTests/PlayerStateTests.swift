import DisplaySink
import Media
import PixelConversion
import Player
import SurfacePool
import TestSupport
import Testing

@Suite struct PlayerStateTests {
    /// The table in the documentation of `PlayerState`; besides, every state may become `failed` or `closed`.
    private static let transitions: [PlayerState: Set<PlayerState>] = [
        .idle: [.opening], .opening: [.idle, .preparing], .preparing: [.playing, .paused, .waiting, .ended],
        .playing: [.paused, .waiting, .preparing, .ended], .paused: [.playing, .waiting, .preparing, .ended],
        .waiting: [.playing, .paused, .preparing, .ended], .ended: [.preparing], .failed: [.preparing], .closed: [],
    ]

    private static func check(_ states: [PlayerState]) {
        for (from, to) in zip([.idle] + states, states) {
            let isAllowed = to == .failed || to == .closed || transitions[from]?.contains(to) == true
            #expect(from != .closed && isAllowed, "from \(from) to \(to) in \(states)")
        }
    }

    @Test(arguments: [1, 2, 3]) func `whatever a viewer does, each state follows from the one before as documented`(_ seed: UInt64) async throws {
        var configuration = PlayerConfiguration()
        configuration.audioDevice = "null"
        let player = Player(sink: HeadlessSink(), configuration: configuration), events = player.events
        try await player.open(TestAssets.demo)
        var dice = Dice(seed: seed)
        for _ in 0..<200 {
            switch Int.random(in: 0..<8, using: &dice) {
            case 0: player.play()
            case 1: player.pause()
            case 2: player.togglePlaying()
            case 3: player.stepForward()
            case 4: player.stepBackward()
            case 5: _ = try? await player.seek(to: .milliseconds(Int.random(in: 0...11_000, using: &dice)))
            case 6: _ = Task { try? await player.seek(to: .milliseconds(Int.random(in: 0...11_000))) }
            default: player.rate = Double.random(in: 0.5...16, using: &dice)
            }
        }
        player.close()
        var states: [PlayerState] = []
        for await case .stateChanged(let state) in events { states.append(state) }
        Self.check(states)
        #expect(states.last == .closed && states.contains(.preparing))
    }

    @Test func `a film that loops is prepared again and again`() async throws {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.loops = true
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
        let events = player.events
        try await player.open(TestAssets.path("short.mp4"))
        var states: [PlayerState] = []
        for await case .stateChanged(let state) in events {
            states.append(state)
            if states.count == 8 { break }
        }
        player.close()
        #expect(states == [.opening, .preparing, .playing, .preparing, .playing, .preparing, .playing, .preparing])
    }

    @Test func `a display that fails is a state, and its error an event`() async throws {
        let player = Player(sink: FailingSink()), events = player.events
        try await player.open(TestAssets.path("plain.mp4"))
        for await event in events {
            guard case .failed(let error) = event else { continue }
            #expect(error.code == .displayUnavailable && error.description == "The display is gone.")
            break
        }
        #expect(player.state == .failed)
        player.close()
    }
}

/// A display that goes away as soon as it is used.
private final class FailingSink: DisplaySink {
    let inner = SilentSink()
    var name: String { inner.name }
    var pacing: Pacing { inner.pacing }
    var surfaceHoldCount: Int { inner.surfaceHoldCount }
    var preferredAllocator: any SurfaceAllocator { inner.preferredAllocator }
    var conversion: ConversionReport? { nil }
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        events(.failed(SinkError(.lost, "The display is gone.")))
    }
    func stop() {}
}
