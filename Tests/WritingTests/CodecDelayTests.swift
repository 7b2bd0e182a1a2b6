import Media
import Testing

@testable import Writing

/// What is told of an encoder's first silence to FFmpeg's muxers of Matroska, of which later ones add it to the times.
@Suite struct CodecDelayTests {
    @Test(arguments: [
        ("opus", FileContainer.matroska, MediaTime(value: 312, timescale: 48_000)), ("opus", .webm, MediaTime(value: 312, timescale: 48_000)),
        ("opus", .mp4, .zero), ("aac", .matroska, .zero), ("mp3", .matroska, .zero), ("vorbis", .webm, .zero), ("aac", .mpegTS, .zero),
    ])
    func `only Opus in Matroska says how long it is`(_ codec: String, _ container: FileContainer, _ time: MediaTime) {
        let format = AudioFormat(codecName: codec, sampleRate: 48_000, channelCount: 2, encoderDelay: 312)
        #expect(CodecDelay.time(format, in: container) == time && CodecDelay.isWritten(format, in: container) == (time > .zero))
    }

    @Test func `sound without a rate has no delay`() {
        let format = AudioFormat(codecName: "opus", sampleRate: 0, channelCount: 2, encoderDelay: 312)
        #expect(CodecDelay.time(format, in: .matroska) == .zero)
    }

    /// 6.5 ms become 7, as they do in the muxer.
    @Test(arguments: [(312, 59, 0), (312, 60, 7), (312, 63, 7), (0, 63, 0), (1024, 61, 21)])
    func `what the muxer adds`(_ delay: Int32, _ major: UInt32, _ ticks: Int64) {
        #expect(CodecDelay.addedTicks(delay, sampleRate: 48_000, unit: Ratio(1, 1000), libraryMajor: major) == ticks)
    }
}
