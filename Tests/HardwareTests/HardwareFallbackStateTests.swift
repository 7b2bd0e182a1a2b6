import Media
import Testing

@testable import Decoding

/// The policy alone: sync frames, errors and time go in, ways come out.
@Suite("hardware fall-back policy")
struct HardwareFallbackStateTests {
    /// What happens, and what must follow. Time is in seconds.
    private enum Step {
        case key(at: Double, way: HardwareFallbackState.Way)
        case error
        case death(at: Double)
        case errorAtKey(at: Double, HardwareFallbackState.Verdict)
    }

    private func run(isRequired: Bool = false, _ steps: [Step], _ location: SourceLocation = #_sourceLocation) {
        var state = HardwareFallbackState(isRequired: isRequired, way: .hardware)
        for (index, step) in steps.enumerated() {
            switch step {
            case .key(let time, let way):
                #expect(state.keyframe(now: HostTime(nanoseconds: 0) + .seconds(time)) == way, "step \(index)", sourceLocation: location)
            case .death(let time): state.died(now: HostTime(nanoseconds: 0) + .seconds(time), window: .seconds(10))
            case .error: _ = state.failed(isKeyframe: false, now: HostTime(nanoseconds: 0))
            case .errorAtKey(let time, let verdict):
                let now = HostTime(nanoseconds: 0) + .seconds(time)
                #expect(state.failed(isKeyframe: true, now: now) == verdict, "step \(index)", sourceLocation: location)
            }
        }
    }

    @Test("a process that dies once is an accident; the second death within the window ends hardware, a later one does not")
    func deaths() {
        run([.death(at: 0), .key(at: 1, way: .hardware), .death(at: 9), .key(at: 9.5, way: .software), .key(at: 20, way: .hardware)])
        run([.death(at: 0), .key(at: 1, way: .hardware), .death(at: 10), .key(at: 11, way: .hardware), .death(at: 12), .key(at: 12, way: .software)])
        run(isRequired: true, [.death(at: 0), .death(at: 1), .key(at: 1, way: .hardware)])
        // Errors of a process that is gone are not the next one's.
        run([.error, .error, .error, .death(at: 0), .key(at: 0, way: .hardware)])
    }

    @Test("errors below the tolerance are forgotten at the next sync frame, for ever")
    func tolerance() {
        run([.key(at: 0, way: .hardware), .error, .error, .key(at: 1, way: .hardware), .error, .error, .key(at: 2, way: .hardware)])
    }

    @Test("as many errors as the tolerance end hardware at the next sync frame, not before")
    func condemned() {
        run([.key(at: 0, way: .hardware), .error, .error, .error, .key(at: 1, way: .software), .key(at: 5, way: .software)])
    }

    @Test("hardware is tried again after the pause, which doubles with every defeat in a row")
    func retry() {
        run([
            .key(at: 0, way: .hardware), .errorAtKey(at: 0, .redo), .key(at: 9, way: .software), .key(at: 10, way: .hardware),
            .errorAtKey(at: 10, .redo), .key(at: 29, way: .software), .key(at: 30, way: .hardware), .errorAtKey(at: 30, .redo),
            .key(at: 69, way: .software), .key(at: 70, way: .hardware),
        ])
    }

    @Test("the pause has a limit")
    func longestPause() {
        var steps: [Step] = []
        var time = 0.0
        for _ in 0..<20 {
            steps += [.errorAtKey(at: time, .redo)]
            time += HardwareFallbackState.longestPause
            steps += [.key(at: time, way: .hardware)]
        }
        run(steps)
    }

    @Test("sync frames without errors restore trust: the next pause is short again")
    func trust() {
        run([
            .errorAtKey(at: 0, .redo), .key(at: 10, way: .hardware), .key(at: 11, way: .hardware), .key(at: 12, way: .hardware),
            .key(at: 13, way: .hardware), .errorAtKey(at: 14, .redo), .key(at: 23, way: .software), .key(at: 24, way: .hardware),
        ])
    }

    @Test("required hardware is never given up")
    func required() {
        run(
            isRequired: true,
            [
                .errorAtKey(at: 0, .goOn), .error, .error, .error, .error, .key(at: 1, way: .hardware), .errorAtKey(at: 1, .goOn),
                .key(at: 2, way: .hardware),
            ])
    }

    @Test("errors of software say nothing about hardware")
    func software() {
        run([.errorAtKey(at: 0, .redo), .errorAtKey(at: 1, .goOn), .error, .error, .error, .key(at: 10, way: .hardware)])
    }

    @Test("a quirk names the driver, the codec and the reason")
    func quirks() {
        let table = [
            DriverQuirk(vendor: "Old driver", codec: .vp9, reason: "it shows green frames"),
            DriverQuirk(vendor: "Bridge", codec: nil, reason: "it exports nothing"),
        ]
        #expect(DriverQuirk.reason(vendor: "Old driver 1.2", codec: .vp9, in: table) == "it shows green frames")
        #expect(DriverQuirk.reason(vendor: "Old driver 1.2", codec: .h264, in: table) == nil)
        #expect(DriverQuirk.reason(vendor: "Bridge", codec: .h264, in: table) == "it exports nothing")
        #expect(DriverQuirk.reason(vendor: "Intel iHD driver", codec: .h264) == nil)
        #expect(DriverQuirk.table.allSatisfy { !$0.reason.isEmpty })
    }
}
