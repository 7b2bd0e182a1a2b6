import Composition
import Media
import Reading
import SurfacePool
import TestSupport
import Testing

/// What the built-in compositor draws is what floating-point arithmetic gives.
@Suite struct DrawingTests {
    @Test func `a dissolve`() throws {
        let (a, b) = (try TestFilm(seed: 1, frames: 25), try TestFilm(seed: 2, frames: 25))
        let made = try Drawing.read(Drawing.film([a, b]), [.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        #expect(made.frames.count == 25 && made.report.framesDrawn == 25)
        for (number, frame) in made.frames.enumerated() {
            let opacity = 1 - Double(number) / 25
            let wanted = FloatFrame(Drawing.size, b.frames[number]).under(FloatFrame(Drawing.size, a.frames[number]), opacity: opacity)
            #expect(wanted.difference(frame) <= 0.505, "frame \(number): rounded once, and the weight has 16 bits")
        }
    }

    @Test(arguments: TransitionDirection.allCases)
    func `a push and a wipe`(direction: TransitionDirection) throws {
        let (a, b) = (try TestFilm(seed: 3, frames: 25), try TestFilm(seed: 4, frames: 25)), film = try Drawing.film([a, b])
        let push = try Drawing.read(film, [.push(from: 1, to: 2, in: Drawing.second, towards: direction, size: Drawing.size)]).frames
        let wipe = try Drawing.read(film, [.wipe(from: 1, to: 2, in: Drawing.second, towards: direction)]).frames
        func even(_ value: Double) -> Int { Int((value / 2).rounded()) * 2 }
        for number in stride(from: 0, to: 25, by: 4) {
            let share = Double(number) / 25, (width, height) = (Double(Drawing.size.width), Double(Drawing.size.height))
            let (x, y): (Double, Double) =
                switch direction {
                case .left: (-1, 0)
                case .right: (1, 0)
                case .up: (0, -1)
                case .down: (0, 1)
                }
            let (old, new) = (FloatFrame(Drawing.size, a.frames[number]), FloatFrame(Drawing.size, b.frames[number]))
            let pushed = FloatFrame(Drawing.size, codes: [16, 128, 128])
                .under(new, opacity: 1, x: even((share - 1) * x * width), y: even((share - 1) * y * height))
                .under(old, opacity: 1, x: even(share * x * width), y: even(share * y * height))
            #expect(pushed.difference(push[number]) == 0, "push \(direction), frame \(number)")
            let edges: (Double, Double, Double, Double) =
                switch direction {
                case .left: (0, 0, 1 - share, 1)
                case .right: (share, 0, 1, 1)
                case .up: (0, 0, 1, 1 - share)
                case .down: (0, share, 1, 1)
                }
            let (left, top, right, bottom) = (even(edges.0 * width), even(edges.1 * height), even(edges.2 * width), even(edges.3 * height))
            let part = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
            #expect(new.under(old, opacity: 1, part: part).difference(wipe[number]) == 0, "wipe \(direction), frame \(number)")
        }
    }

    @Test func `a small frame over a large one, and layers over a background`() throws {
        // Values that rise evenly: every filter that scales them right keeps them so.
        let ramp = try TestFilm(seed: 5, frames: 25) { _, plane, x, y in
            let value: Int = plane == 0 ? 32 + 2 * x + y : 64 + 2 * x + 2 * y
            return UInt8(value)
        }
        let noise = try TestFilm(seed: 6, frames: 25)
        let place = PixelRect(x: 20, y: 10, width: 32, height: 18)
        let made = try Drawing.read(Drawing.film([noise, ramp]), [.pictureInPicture(2, over: 1, at: place, size: Drawing.size, in: Drawing.second)])
        for number in [0, 7, 24] {
            let large = FloatFrame(Drawing.size, noise.frames[number]), found = made.frames[number]
            var wrong = 0.0
            for y in 0..<36 {
                for x in 0..<64 {
                    let value = Double(found.bytes[y * 64 + x])
                    guard (place.x..<place.x + 32).contains(x), (place.y..<place.y + 18).contains(y) else {
                        wrong = max(wrong, abs(value - large.planes[0][y * 64 + x]))
                        continue
                    }
                    // Not at the edges of the small frame, where a filter repeats the outermost samples.
                    guard (place.x + 3..<place.x + 29).contains(x), (place.y + 3..<place.y + 15).contains(y) else { continue }
                    let (u, v) = (2 * Double(x - place.x) + 0.5, 2 * Double(y - place.y) + 0.5)
                    wrong = max(wrong, abs(value - (32 + 2 * u + v)))
                }
            }
            #expect(wrong <= 1, "frame \(number)")
        }
        // Five layers over blue: the sums are rounded once.
        var film = Composition()
        let noises = try (0..<5).map { try TestFilm(seed: 10 + UInt64($0), frames: 25) }
        for noise in noises { try film.insert(Drawing.second, of: noise.source, into: film.addTrack(.video), at: .zero) }
        let opacities = [0.3, 0.15, 0.6, 0.05, 0.4]
        let layers = (0..<5).map { VideoCompositionLayer(track: $0 + 1, opacity: opacities[$0]) }
        let blue = CompositionColor(red: 0, green: 0, blue: 1)
        let stacked = try Drawing.read(film, [VideoCompositionInstruction(timeRange: Drawing.second, layers: layers, backgroundColor: blue)])
        // Blue in the matrix of BT.601, in limited range.
        var wanted = FloatFrame(Drawing.size, codes: [41, 240, 110])
        for index in (0..<5).reversed() { wanted = wanted.under(FloatFrame(Drawing.size, noises[index].frames[3]), opacity: opacities[index]) }
        #expect(wanted.difference(stacked.frames[3]) <= 0.6)
        #expect(stacked.report.framesDrawn == 25 && stacked.report.framesRepeated == 0, "the sources change with every frame")
    }

    @Test func `a frame of another size, matrix and range is fitted and converted`() throws {
        // A grey of full range is another code value in limited range.
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .full)
        let full = try TestFilm(seed: 7, frames: 25, size: PixelSize(width: 32, height: 36), color: color) { _, plane, _, _ in plane == 0 ? 255 : 128
        }
        let film = try Drawing.film([full])
        let instruction = VideoCompositionInstruction(timeRange: Drawing.second, layers: [VideoCompositionLayer(track: 1, fit: .fit)])
        let made = try Drawing.read(film, [instruction]) { $0.color = .bt709 }
        let bar = FloatFrame(Drawing.size, codes: [16, 128, 128])
        let wanted = bar.under(FloatFrame(Drawing.size, codes: [235, 128, 128]), opacity: 1, part: PixelRect(x: 16, y: 0, width: 32, height: 36))
        #expect(wanted.difference(made.frames[0]) <= 0.5 && made.report.framesPassedThrough == 0)
        // Half as large.
        let preview = try Drawing.read(film, [instruction]) {
            $0.color = .bt709
            $0.renderScale = 0.5
        }
        let small = FloatFrame(PixelSize(width: 32, height: 18), codes: [16, 128, 128])
        let half = small.under(FloatFrame(small.size, codes: [235, 128, 128]), opacity: 1, part: PixelRect(x: 8, y: 0, width: 16, height: 18))
        #expect(half.difference(preview.frames[0]) <= 1)
    }

    @Test func `ten bits are drawn within half a code value`() throws {
        let (a, b) = (try TestFilm(seed: 8, frames: 3), try TestFilm(seed: 9, frames: 3))
        var film = Composition()
        let range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration.multiplied(by: 3))
        for source in [a, b] { try film.insert(range, of: source.source, into: film.addTrack(.video), at: .zero) }
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: range)])
        let output = try CompositionVideoOutput(of: film, video, compositor: LayerCompositor(format: .yuv420p10le))
        var number = 0
        while let frame = try output.nextFrame() {
            let found = FrameBytes(frame), share = Double(number) / 3
            #expect(found.format == PixelFormat.yuv420p10le)
            var wrong = 0.0
            for index in a.frames[number].indices {
                let value = Double(Int(found.bytes[2 * index]) | Int(found.bytes[2 * index + 1]) << 8)
                wrong = max(wrong, abs(value - 4 * (Double(a.frames[number][index]) * (1 - share) + Double(b.frames[number][index]) * share)))
            }
            #expect(wrong <= 0.52, "frame \(number)")
            number += 1
        }
        #expect(number == 3)
    }

    @Test func `a film that lies on its side is turned`() throws {
        let path = TestAssets.path("rotation-90.mp4"), source = try VideoTrackOutput(url: path)
        guard let lying = try source.nextFrame() else { throw TestFilm.Failure() }
        let orientation = lying.attributes.orientation, size = lying.attributes.displaySize(of: lying.visible.size), bytes = FrameBytes(lying)
        #expect(orientation == FrameOrientation(rotation: .clockwise90) && size.width == lying.visible.height)
        var film = Composition()
        let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 30))
        try film.insert(range, of: CompositionSource(url: path), into: film.addTrack(.video), at: .zero)
        let video = VideoComposition(showing: film, frameDuration: range.duration, renderSize: size)
        guard let turned = try CompositionVideoOutput(of: film, video).nextFrame() else { throw TestFilm.Failure() }
        #expect(turned.visible.size == size && turned.attributes.orientation == .upright)
        let found = FrameBytes(turned).bytes
        var start = 0, wrong = 0
        for plane in 0..<3 {
            let (width, height) = plane == 0 ? (size.width, size.height) : (size.width / 2, size.height / 2)
            for y in 0..<height {
                // The left column is the lowest row of the frame that lies.
                for x in 0..<width where found[start + y * width + x] != bytes.bytes[start + (width - 1 - x) * height + y] { wrong += 1 }
            }
            start += width * height
        }
        #expect(wrong == 0 && start == found.count)
    }
}
