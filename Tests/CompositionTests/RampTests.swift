import Composition
import Media
import TestSupport
import Testing

/// Values that change over time.
@Suite(.unsanitized)
struct RampTests {
    typealias Times = EditingTests

    @Test func `a value is constant, then changes evenly, then stays`() {
        var volume = Ramped(1.0)
        volume.ramp(from: 1, to: 0, during: Times.range(10, 20))
        volume.set(0.5, at: Times.time(30))
        let expected: [(Int, Double)] = [(0, 1), (10, 1), (15, 0.5), (20, 0), (29, 0), (30, 0.5), (99, 0.5)]
        for (time, value) in expected { #expect(volume.value(at: Times.time(time)) == value, "at \(time)") }
        let changing: [(Int, Int, Bool)] = [(0, 10, false), (0, 11, true), (12, 13, true), (20, 30, false), (25, 31, true), (30, 40, false)]
        for (start, end, changes) in changing { #expect(volume.changes(in: Times.range(start, end)) == changes, "\(start) to \(end)") }
    }

    @Test func `transforms and crops change in each number`() {
        let move = LayerTransform.identity.interpolated(to: LayerTransform(scaleX: 3, scaleY: 0.5, x: -8, y: 100), 0.25)
        #expect(move == LayerTransform(scaleX: 1.5, scaleY: 0.875, x: -2, y: 25))
        #expect(LayerCrop.whole.interpolated(to: LayerCrop(left: 0.5, top: 1, right: 1, bottom: 1), 0.5) == LayerCrop(left: 0.25, top: 0.5))
    }

    @Test func `a plain layer on top is passed through, one that changes is not`() {
        let range = Times.range(0, 10), plain = VideoCompositionLayer(track: 2), below = VideoCompositionLayer(track: 1)
        let cut = VideoCompositionInstruction(timeRange: range, layers: [plain, below])
        #expect(cut.passthroughTrack == 2 && cut.requiredTracks == [2, 1] && !cut.containsTweening)
        let dissolve = VideoCompositionInstruction.crossDissolve(from: 2, to: 1, in: range)
        #expect(dissolve.passthroughTrack == nil && dissolve.containsTweening)
        let still = VideoCompositionInstruction(timeRange: range, layers: [VideoCompositionLayer(track: 2, opacity: 0.5), below])
        #expect(still.passthroughTrack == nil && !still.containsTweening)
        #expect(VideoCompositionInstruction(timeRange: range, layers: []).requiredTracks.isEmpty)
    }
}
