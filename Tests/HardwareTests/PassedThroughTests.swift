import Composition
import Decoding
import Media
import PixelConversion
import Reading
import SurfacePool
import TestSupport
import Testing

/// A composition of a film that hardware decodes.
@Suite("a composition of hardware's frames") struct PassedThroughTests {
    private static let frameDuration = MediaTime(value: 1, timescale: 30)

    private static func range(_ start: Int, _ count: Int) -> MediaTimeRange {
        MediaTimeRange(start: frameDuration.multiplied(by: start), duration: frameDuration.multiplied(by: count))
    }

    /// Frames 60 to 69 of a film as they are, then ten that are drawn.
    private static func output(_ specification: DecoderSpecification, _ statistics: FrameStatistics) throws -> CompositionVideoOutput {
        var film = Composition()
        let track = film.addTrack(.video)
        try film.insert(range(60, 20), of: CompositionSource(url: TestAssets.demo), into: track, at: .zero)
        let video = VideoComposition(
            frameDuration: frameDuration, renderSize: PixelSize(width: 640, height: 360),
            instructions: [
                VideoCompositionInstruction(timeRange: range(0, 10), layers: [VideoCompositionLayer(track: track)]),
                VideoCompositionInstruction(timeRange: range(10, 10), layers: [VideoCompositionLayer(track: track, opacity: 0.5)]),
            ])
        var options = CompositionReadingOptions(framesInFlight: 1)
        options.passesAnyFormat = true
        options.reading.decoder.specification = specification
        options.reading.statistics = statistics
        return try CompositionVideoOutput(of: film, video, options: options)
    }

    @Test("what is passed through stays in the driver's surfaces, without a copy; what is drawn is what software's frames give")
    func passes() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            let statistics = FrameStatistics()
            let hardware = try Self.output(DecoderSpecification(hardware: .require, device: SoftwareVADriver.device), statistics)
            let software = try Self.output(DecoderSpecification(hardware: .disable), FrameStatistics())
            for number in 0..<20 {
                guard let frame = try hardware.nextFrame(), let wanted = try software.nextFrame() else { throw HardwareFilm.NoVideo() }
                #expect((frame.surface.memoryKind == .va) == (number < 10), "frame \(number)")
                if number < 10 {
                    #expect(statistics.bytesCopied == 0 && hardware.conversion == nil && frame.pixelFormat == .nv12, "frame \(number)")
                } else {
                    #expect(FrameBytes(frame).md5 == FrameBytes(wanted).md5, "frame \(number)")
                }
            }
            #expect(statistics.bytesCopied > 0 && hardware.conversion?.from == "nv12 640x360" && hardware.conversion?.to == "yuv420p 640x360")
            #expect(hardware.report.framesPassedThrough == 10 && hardware.report.framesDrawn == 10)
        }
    }
}
