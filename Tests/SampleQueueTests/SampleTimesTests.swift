import Media
import SampleQueue
import Testing

@Suite struct SampleTimesTests {
    private func sample(_ shown: MediaTime, _ decoded: MediaTime) -> SampleBuffer {
        var sample = SampleBuffer(marker: .drain)
        (sample.presentationTime, sample.decodeTime) = (shown, decoded)
        (sample.sourcePresentationTimestamp, sample.sourceDecodeTimestamp) = (90, 60)
        return sample
    }

    @Test func `a shift moves the times that are known, and the container's own no longer stand for them`() {
        let second = MediaTime(value: 1, timescale: 1), moved = sample(second, .invalid).shifted(by: second)
        #expect(moved.presentationTime == MediaTime(value: 2, timescale: 1) && !moved.decodeTime.isNumeric)
        #expect(moved.sourcePresentationTimestamp == nil && moved.sourceDecodeTimestamp == nil)
        let same = sample(second, second).shifted(by: .zero)
        #expect(same.presentationTime == second && same.sourcePresentationTimestamp == 90 && same.sourceDecodeTimestamp == 60)
    }

    @Test func `a sample that does not say when it is shown counts from when it is decoded`() {
        let early = MediaTime(value: 1, timescale: 1), late = MediaTime(value: 2, timescale: 1)
        #expect(sample(late, early).shownTime == late)
        #expect(sample(.invalid, early).shownTime == early)
        #expect(!sample(.invalid, .invalid).shownTime.isNumeric)
    }
}
