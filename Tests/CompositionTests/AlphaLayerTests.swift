import Composition
import Media
import Reading
import TestSupport
import Testing

/// Films with alpha in a composition: what lies below them is seen through them.
@Suite struct AlphaLayerTests {
    private static let size = Drawing.size

    /// What lies below a film with alpha and an opacity, in floating point.
    private static func over(_ below: FloatFrame, _ bytes: [UInt8], opacity: Double) -> FloatFrame {
        let (width, height) = (size.width, size.height), color = FloatFrame(size, bytes), start = width * height * 3 / 2
        var made = below
        func alpha(_ x: Int, _ y: Int) -> Double { Double(bytes[start + y * width + x]) / 255 * opacity }
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            for y in 0..<height >> shift {
                for x in 0..<width >> shift {
                    var share = alpha(x << shift, y << shift)
                    if shift == 1 {
                        // The code of the mean of four pixels.
                        let codes = [(0, 0), (1, 0), (0, 1), (1, 1)].map { Int(bytes[start + (2 * y + $0.1) * width + 2 * x + $0.0]) }
                        share = Double((codes.reduce(0, +) + 2) / 4) / 255 * opacity
                    }
                    let index = y * (width >> shift) + x
                    made.planes[plane][index] = below.planes[plane][index] * (1 - share) + color.planes[plane][index] * share
                }
            }
        }
        return made
    }

    @Test(arguments: [1, 0.4]) func `a film with alpha lies over another one, and over a background`(_ opacity: Double) throws {
        let below = try TestFilm(seed: 21, frames: 25), above = try TestFilm(seed: 22, frames: 25, hasAlpha: true)
        let layers = [VideoCompositionLayer(track: 2, opacity: opacity), VideoCompositionLayer(track: 1)]
        let film = try Drawing.film([below, above])
        let made = try Drawing.read(film, [VideoCompositionInstruction(timeRange: Drawing.second, layers: layers)])
        #expect(made.frames.count == 25 && made.report.framesPassedThrough == 0)
        for (number, frame) in made.frames.enumerated() {
            let wanted = Self.over(FloatFrame(Self.size, below.frames[number]), above.frames[number], opacity: opacity)
            #expect(frame.format == .yuv420p && wanted.difference(frame) <= 1, "frame \(number): \(wanted.difference(frame))")
        }
        let blue = CompositionColor(red: 0, green: 0, blue: 1)
        let alone = VideoCompositionInstruction(
            timeRange: Drawing.second, layers: [VideoCompositionLayer(track: 2, opacity: opacity)], backgroundColor: blue)
        let bottom = FloatFrame(Self.size, codes: [41, 240, 110])
        for (number, frame) in try Drawing.read(film, [alone]).frames.enumerated() {
            #expect(Self.over(bottom, above.frames[number], opacity: opacity).difference(frame) <= 1, "frame \(number)")
        }
    }

    @Test func `alpha is scaled with the frame, and an opaque one hides what lies below`() throws {
        // The left half is opaque, the right half shows what lies below.
        let half = try TestFilm(seed: 23, frames: 3, size: PixelSize(width: 32, height: 18), hasAlpha: true) { _, plane, x, _ in
            plane == 3 ? (x < 16 ? 255 : 0) : plane == 0 ? 200 : 128
        }
        let below = try TestFilm(seed: 24, frames: 3) { _, plane, _, _ in plane == 0 ? 50 : 128 }
        var film = Composition()
        let range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration.multiplied(by: 3))
        for source in [below, half] { try film.insert(range, of: source.source, into: film.addTrack(.video), at: .zero) }
        let layers = [VideoCompositionLayer(track: 2, fit: .stretch), VideoCompositionLayer(track: 1)]
        let made = try Drawing.read(film, [VideoCompositionInstruction(timeRange: range, layers: layers)])
        let bytes = try #require(made.frames.first).bytes
        for y in 0..<Self.size.height {
            // The filter makes an edge of some pixels in the middle.
            for x in 0..<28 { #expect(abs(Int(bytes[y * 64 + x]) - 200) <= 1, "\(x), \(y)") }
            for x in 36..<64 { #expect(abs(Int(bytes[y * 64 + x]) - 50) <= 1, "\(x), \(y)") }
        }
    }
}
