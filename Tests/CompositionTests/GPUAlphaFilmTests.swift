import Composition
import Foundation
import GPUComposition
import Media
import Reading
import TestSupport
import Testing

/// Films and images with alpha as other programs write them: the compositor on a GPU draws what the one on the CPU does.
@Suite(.serialized, .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"), "no ffmpeg")) struct GPUAlphaFilmTests {
    /// How FFmpeg writes each, by the ending of the file.
    static let kinds = [
        ("webm", ["-c:v", "libvpx-vp9", "-lossless", "1", "-pix_fmt", "yuva420p"]),
        ("vp8.webm", ["-c:v", "libvpx", "-auto-alt-ref", "0", "-b:v", "1M", "-pix_fmt", "yuva420p"]),
        ("mov", ["-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuva444p10le"]),
        ("png", ["-frames:v", "1", "-pix_fmt", "rgba"]),
    ]

    @Test(arguments: kinds, [PixelFormat.yuv420p, .yuv420p10le])
    func `each code value is the same`(kind: (ending: String, words: [String]), format: PixelFormat) throws {
        let path = ProcessFolder.url.path + "/alpha-\(UUID().uuidString).\(kind.ending)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Opaque on the left, and less so to the right.
        let source = "color=red:size=64x36:rate=25:duration=0.12,format=yuva420p,geq=lum='16+X*3':cb='64+Y*3':cr=160:a='255-3*X'"
        try FFmpeg.run(["-f", "lavfi", "-i", source] + kind.words + [path])
        let below = try TestFilm(seed: 301, frames: 1), range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration)
        var film = Composition()
        for one in [below.source, CompositionSource(url: path)] { try film.insert(range, of: one, into: film.addTrack(.video), at: .zero) }
        let layers = [VideoCompositionLayer(track: 2, opacity: 0.8), VideoCompositionLayer(track: 1)]
        let instruction = VideoCompositionInstruction(timeRange: range, layers: layers)
        func frames(_ compositor: any VideoCompositing) throws -> [FrameBytes] {
            try GPUDrawingTests.frames(film, instruction, compositor, size: Drawing.size, allocator: "memfd")
        }
        let wanted = try frames(LayerCompositor(format: format)), gpu = try GPULayerCompositor(format: format)
        let found = try frames(gpu), opaque = try frames(GPUDrawingTests.Asking(gpu, format))
        #expect(found == wanted && wanted.count == 1, "\(gpu.device)")
        #expect(opaque != wanted)
        // Where the film is nearly clear, what lies below it is seen.
        let luma = wanted[0].bytes, other = opaque[0].bytes, size = Drawing.size, sample = format == .yuv420p ? 1 : 2
        let differing = (0..<size.height).filter { row in
            let last = ((row + 1) * size.width - 1) * sample
            return luma[last..<last + sample] != other[last..<last + sample]
        }
        #expect(differing.count > size.height / 2, "\(differing.count) of \(size.height) rows")
    }
}
