import Composition
import Media
import Reading
import SurfacePool
import TestSupport
import Testing

/// Small films, and what the built-in compositor draws of them.
enum Drawing {
    static let size = PixelSize(width: 64, height: 36)
    static let second = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))

    /// Films of 25 frames on tracks 1, 2 …, for one second.
    static func film(_ films: [TestFilm]) throws -> Composition {
        var made = Composition()
        for film in films { try made.insert(second, of: film.source, into: made.addTrack(.video), at: .zero) }
        return made
    }

    static func read(
        _ film: Composition, _ instructions: [VideoCompositionInstruction], size: PixelSize = size,
        _ change: (inout VideoComposition) -> Void = { _ in }
    ) throws -> (frames: [FrameBytes], report: CompositorReport) {
        var video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: size, instructions: instructions)
        change(&video)
        let output = try CompositionVideoOutput(of: film, video)
        var frames: [FrameBytes] = []
        while let frame = try output.nextFrame() {
            #expect(frame.presentationTime == TestFilm.frameDuration.multiplied(by: frames.count) && frame.duration == TestFilm.frameDuration)
            frames.append(FrameBytes(frame))
        }
        return (frames, output.report)
    }
}
