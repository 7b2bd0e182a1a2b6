// A compositor of one's own: a wipe with a soft edge from one film to another.
//
//     swift run compositor a.mp4 b.mp4 wipe.mkv
import Composition
import Glibc
import Media
import PixelConversion
import Reading
import SurfacePool
import Writing

/// During this time the second film wipes the first away, from left to right.
struct SoftWipe: VideoCompositionInstructing {
    let timeRange: MediaTimeRange
    let from: Int
    let to: Int
    var requiredTracks: [Int] { [from, to] }
}

/// Each column of the result is a mix of both frames; over an eighth of the width the mix changes.
final class SoftWipeCompositor: VideoCompositing {
    let sourceRequirements = OutputRequirements(formats: [.yuv420p], usages: [.cpu])
    let renderFormat = PixelFormat.yuv420p

    func start(_ request: VideoCompositionRequest) throws {
        guard let wipe = request.instruction as? SoftWipe, let old = request.sourceFrame(wipe.from), let new = request.sourceFrame(wipe.to) else {
            return request.finish(throwing: ReadingError(.noFrame, "a film has no frame"))
        }
        let range = wipe.timeRange, context = request.renderContext
        let share = (request.compositionTime - range.start).seconds / range.duration.seconds
        guard old.visible.size == context.size, new.visible.size == context.size else {
            return request.finish(throwing: ReadingError(.conversion, "both films must be \(context.size)"))
        }
        let writer = try context.makeSurface(), target = writer.surface.layout
        unsafe old.surface.withUnsafeBytes { a in
            unsafe new.surface.withUnsafeBytes { b in
                unsafe writer.withUnsafeMutableBytes { made in
                    for plane in 0..<3 {
                        let width = context.size.width >> (plane == 0 ? 0 : 1), height = context.size.height >> (plane == 0 ? 0 : 1)
                        let edge = share * 1.125 * Double(width), softness = Double(width) / 8
                        let weights = (0..<width).map { Int(max(0, min(256, 256 * (edge - Double($0)) / softness))) }
                        let (first, second, third) = (old.surface.layout.plane(plane), new.surface.layout.plane(plane), target.plane(plane))
                        for y in 0..<height {
                            let (i, j, k) = (first.offset + y * first.pitch, second.offset + y * second.pitch, third.offset + y * third.pitch)
                            for x in 0..<width {
                                let mix = unsafe Int(a[i + x]) * (256 - weights[x]) + Int(b[j + x]) * weights[x]
                                unsafe made[k + x] = UInt8((mix + 128) >> 8)
                            }
                        }
                    }
                }
            }
        }
        request.finish(with: context.frame(writer))
    }
}

@main struct Main {
    static func main() throws {
        let films = Array(CommandLine.arguments.dropFirst())
        guard films.count == 3 else { return print("usage: compositor FILM FILM OUT") }
        let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 2, timescale: 1))
        var film = Composition()
        let (a, b) = (film.addTrack(.video), film.addTrack(.video))
        try film.insert(range, of: CompositionSource(url: films[0]), into: a, at: .zero)
        try film.insert(range, of: CompositionSource(url: films[1]), into: b, at: .zero)
        guard let first = try VideoTrackOutput(url: films[0]).nextFrame() else { return print("\(films[0]) has no frame") }
        let video = VideoComposition(
            frameDuration: MediaTime(value: 1, timescale: 25), renderSize: first.visible.size,
            instructions: [SoftWipe(timeRange: range, from: a, to: b)])
        try ExportSession(from: film, video, compositor: SoftWipeCompositor(), to: films[2]).run()
    }
}
