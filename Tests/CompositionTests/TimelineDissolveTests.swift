import Composition
import Media
import TestSupport
import Testing

/// Dissolves of time lines at the ends of tracks, beside gaps, of sound, and in nested stacks that are cut and warped.
@Suite struct TimelineDissolveTests {
    typealias Text = TimelineText

    private static func frame(_ film: TestFilm, _ number: Int) -> FloatFrame { FloatFrame(Drawing.size, film.frames[number]) }

    /// Compares every frame with what it should be. Frames that are mixed of several are rounded once.
    private static func expect(_ file: TimelineFile, count: Int, _ wanted: (Int) -> (frame: FloatFrame, isMixed: Bool)) throws {
        #expect(file.notices.isEmpty, "\(file.notices)")
        let output = try CompositionVideoOutput(of: file.composition, file.videoComposition)
        var number = 0
        while let found = try output.nextFrame() {
            let (frame, isMixed) = wanted(number)
            #expect(frame.difference(FrameBytes(found)) <= (isMixed ? 0.52 : 0), "frame \(number)")
            number += 1
        }
        #expect(number == count)
    }

    @Test func `clips fade in from the track below and out to it, at the ends of a track and beside gaps`() throws {
        let films = try (0..<3).map { try TestFilm(seed: 180 + UInt64($0), frames: 25) }
        let names = films.map(TimelineTests.name)
        let below = Text.track("Video", [Text.clip("below", names[2], 0, 25)])
        let above = Text.track(
            "Video",
            [
                Text.dissolve(3, 4), Text.clip("one", names[0], 0, 8), Text.dissolve(2, 1), Text.gap(4), Text.dissolve(1, 2),
                Text.clip("two", names[1], 5, 9), Text.dissolve(3, 2),
            ])
        try Self.expect(TimelineTests.read(Text.timeline([below, above])), count: 25) { number in
            let ground = Self.frame(films[2], number), time = Double(number)
            let one = min(time / 4, 1, (9 - time) / 3), two = min((time - 11) / 3, 1, (21 - time) / 3)
            if one > 0 { return (ground.under(Self.frame(films[0], number), opacity: one), one < 1) }
            if two > 0 { return (ground.under(Self.frame(films[1], number - 7), opacity: two), two < 1) }
            return (ground, false)
        }
    }

    @Test func `the sounds of two clips cross, and a third fades out`() throws {
        let films = try (0..<3).map { try TestFilm(seed: 190 + UInt64($0), frames: 25, hasSound: true) }
        let names = films.map(TimelineTests.name)
        let sound = Text.track(
            "Audio",
            [
                Text.clip("one", names[0], 0, 10), Text.dissolve(2, 3), Text.clip("two", names[1], 5, 10), Text.clip("three", names[2], 3, 5),
                Text.dissolve(4, 0),
            ])
        let file = try TimelineTests.read(Text.timeline([sound]))
        #expect(file.notices.isEmpty && file.audioMix.isValid(for: file.composition), "\(file.notices)")
        let mixed = try CompositionSoundTests.read(CompositionSoundOutput(of: file.composition, file.audioMix))
        let unit = 1920
        #expect(mixed.count == 2 * 25 * unit)
        func left(_ film: Int, _ position: Int) -> Double { Double(CompositionSoundTests.left(films[film], position)) }
        for position in stride(from: 0, to: 25 * unit, by: 7) {
            let time = Double(position) / Double(unit)
            let crossed = min(max((time - 8) / 5, 0), 1), faded = min(max((time - 21) / 4, 0), 1)
            var wanted = 0.0
            if time < 13 { wanted += left(0, position) * (1 - crossed) }
            if time >= 8, time < 20 { wanted += left(1, position - 5 * unit) * crossed }
            if time >= 20 { wanted += left(2, position - 17 * unit) * (1 - faded) }
            #expect(abs(Double(mixed[2 * position]) - wanted) < 1e-4, "sample \(position)")
        }
    }

    @Test func `a nested stack runs at another speed, stands still, and is cut by what it lies in`() throws {
        let films = try (0..<2).map { try TestFilm(seed: 200 + UInt64($0), frames: 25) }
        let names = films.map(TimelineTests.name)
        let inner = Text.track("Video", [Text.clip("one", names[0], 0, 6), Text.dissolve(2, 2), Text.clip("two", names[1], 10, 6)])
        let plain = Text.stack([Text.track("Video", [Text.clip("plain", names[0], 0, 20)])], range: Text.range(2, 6))
        let video = Text.track(
            "Video",
            [
                Text.stack([inner], range: Text.range(2, 6), effects: Text.warp(0.5)), Text.stack([inner], effects: Text.warp(2)),
                Text.stack([inner], range: Text.range(5, 3), effects: Text.warp(0)),
                Text.stack([Text.track("Video", [plain])], range: Text.range(1, 8)),
            ])
        /// What the inner track shows at a time, counted in frames.
        func shown(_ time: Double) -> (FloatFrame, Bool) {
            if time < 4 { return (Self.frame(films[0], Int(time)), false) }
            if time >= 8 { return (Self.frame(films[1], Int(time) + 4), false) }
            let opacity = (time - 4) / 4
            return (Self.frame(films[0], Int(time)).under(Self.frame(films[1], Int(time) + 4), opacity: opacity), true)
        }
        let black = FloatFrame(Drawing.size, codes: [16, 128, 128])
        try Self.expect(TimelineTests.read(Text.timeline([video])), count: 29) { number in
            switch number {
            case 0..<6: shown(2 + Double(number) / 2)
            case 6..<12: shown(2 * Double(number - 6))
            // Without a range of its own it lasts as long as at its own speed.
            case 12..<18: (black, false)
            case 18..<21: shown(5)
            case 21..<26: (Self.frame(films[0], number - 18), false)
            default: (black, false)
            }
        }
    }
}
