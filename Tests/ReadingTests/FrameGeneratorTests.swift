import Glibc
import Media
import PixelConversion
import Reading
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Frames at times against a full decode.
@Suite struct FrameGeneratorTests {
    private func options(_ selection: FrameGeneratorOptions.Selection = .onScreen) -> FrameGeneratorOptions {
        FrameGeneratorOptions(reading: .software, selection: selection)
    }

    private func seconds(_ value: Int64, _ scale: Int32 = 1) -> MediaTime { MediaTime(value: value, timescale: scale) }

    @Test("finds the frame on the screen, the next, the nearest", arguments: FullDecode.ownFilms)
    func selections(path: String) throws {
        let film = try FullDecode.frames(path)
        var dice = Dice(seed: 7)
        var times: [MediaTime] = []
        for _ in 0..<TestExtent.rounds(12, full: 100, sanitized: 4) {
            let frame = film[Int.random(in: 0..<film.count - 1, using: &dice)]
            times.append(max(frame.time + seconds(Int64.random(in: -15...15, using: &dice), 1000), .zero))
        }
        for selection in FrameGeneratorOptions.Selection.allCases {
            let generator = try FrameGenerator(url: path, options: options(selection))
            var seen: Set<Int> = []
            try generator.forEachFrame(at: times) { found in
                seen.insert(found.index)
                let frame = FullDecode.Frame(try found.frame.copy())
                #expect(frame == expected(film, found.requestedTime, selection), "\(path) \(selection) \(found.requestedTime)")
            }
            #expect(seen.count == times.count)
        }
    }

    private func expected(_ film: [FullDecode.Frame], _ time: MediaTime, _ selection: FrameGeneratorOptions.Selection) -> FullDecode.Frame? {
        let before = film.last { $0.time <= time } ?? film[0], after = film.first { $0.time >= time }
        switch selection {
        case .onScreen: return before
        case .next: return after
        case .nearest:
            guard let after, before.time <= time else { return before }
            return after.time - time < time - before.time ? after : before
        }
    }

    @Test func `a group of frames is decoded once, whatever the order of the times`() throws {
        let generator = try FrameGenerator(url: TestAssets.demo, options: options())
        let times = (0..<40).map { seconds(Int64($0 * 7 % 40), 20) }
        var last = MediaTime.negativeInfinity
        try generator.forEachFrame(at: times) { found in
            #expect(found.requestedTime >= last)
            last = found.requestedTime
            _ = try found.frame
        }
        // Two seconds of film, and what the decoder's threads and the reordering read ahead.
        #expect(generator.samplesDecoded < 120, "\(generator.samplesDecoded) samples for 60 frames of film")
    }

    @Test func `frames far apart cost their groups only`() throws {
        let film = try FullDecode.frames(TestAssets.demo)
        let generator = try FrameGenerator(url: TestAssets.demo, options: options())
        try generator.forEachFrame(at: [seconds(1), seconds(9)]) { found in
            let frame = FullDecode.Frame(try found.frame.copy())
            #expect(frame == expected(film, found.requestedTime, .onScreen))
        }
        #expect(generator.samplesDecoded < film.count, "\(generator.samplesDecoded) of \(film.count) samples")
    }

    @Test func `a tolerance takes the frame of the sync sample`() throws {
        var options = options()
        options.toleranceBefore = .positiveInfinity
        let generator = try FrameGenerator(url: TestAssets.demo, options: options)
        let frame = try generator.frame(at: seconds(59, 10))
        #expect(frame.flags.contains(.sync) && frame.presentationTime <= seconds(59, 10))
        options.toleranceBefore = seconds(1, 1000)
        let exact = try FrameGenerator(url: TestAssets.demo, options: options).frame(at: seconds(59, 10))
        #expect(exact.presentationTime + exact.duration > seconds(59, 10))
    }

    @Test func `a time without a frame is an answer, and the others follow`() throws {
        let generator = try FrameGenerator(url: TestAssets.demo, options: options())
        var codes: [ReadingError.Code?] = []
        try generator.forEachFrame(at: [seconds(1), seconds(1000), .invalid, seconds(2)]) { found in
            if case .failure(let error) = found.result { codes.append(error.code) } else { codes.append(nil) }
        }
        #expect(codes.filter { $0 == nil }.count == 2 && codes.filter { $0 == .noFrame }.count == 2)
    }

    @Test func `frames are upright, square, no larger than wanted, and many may be held`() throws {
        var form = options()
        form.format = .rgb24
        form.maximumSize = PixelSize(width: 64, height: 0)
        form.appliesOrientation = true
        form.appliesPixelAspect = true
        let generator = try FrameGenerator(url: TestAssets.path("rotation-90.mp4"), options: form)
        var held: [SharedFrame] = []
        try generator.forEachFrame(at: (0..<40).map { seconds(Int64($0), 100) }) { held.append(try $0.frame) }
        #expect(held.count == 40)
        let frame = held[0].copy()
        let asDecoded = try FrameGenerator(url: TestAssets.path("rotation-90.mp4"), options: options()).frame(at: .zero)
        let isWide = asDecoded.visible.width > asDecoded.visible.height
        #expect(frame.visible.width == 64 && (frame.visible.height > 64) == isWide && frame.attributes.orientation == .upright)
        let wide = try FrameGenerator(url: TestAssets.path("pixel-aspect-2.mp4"), options: form).frame(at: .zero)
        let plain = try FrameGenerator(url: TestAssets.path("pixel-aspect-2.mp4"), options: options()).frame(at: .zero)
        #expect(wide.visible.height * 2 * plain.visible.width - 64 * plain.visible.height < 2 * plain.visible.width)
    }

    @Test func `an asynchronous loop, and its end by cancellation`() async throws {
        let generator = try FrameGenerator(url: TestAssets.demo, options: options())
        var found: [Int] = []
        for try await frame in generator.frames(at: [seconds(3), seconds(1), seconds(2)]) { found.append(frame.index) }
        #expect(found == [1, 2, 0])
        generator.cancel()
        await #expect(throws: ReadingError.self) { for try await _ in generator.frames(at: [seconds(1)]) {} }
    }

    @Test func `the frames are the same through processes without rights`() throws {
        let film = try FullDecode.frames(TestAssets.demo)
        var options = options()
        options.reading.sandbox = SandboxOptions(policy: .require, decoderPath: BuiltPrograms.decoder)
        let generator = try FrameGenerator(url: TestAssets.demo, options: options)
        try generator.forEachFrame(at: [seconds(8), seconds(1)]) { found in
            let frame = FullDecode.Frame(try found.frame.copy())
            #expect(frame == expected(film, found.requestedTime, .onScreen))
        }
    }

    // MARK: Image files

    @Test func `a PNG file holds the frame without loss, a JPEG file nearly`() throws {
        var form = options()
        form.format = .rgb24
        let frame = try FrameGenerator(url: TestAssets.demo, options: form).frame(at: seconds(1))
        let pixels = FrameBytes(frame).bytes
        for format in [StillImageEncoder.Format.png, .jpeg(quality: 95)] {
            let path = "/tmp/still-\(getpid()).\(format.fileExtension)"
            TestFile.write(try StillImageEncoder(format).encode(frame), path)
            defer { TestFile.remove(path) }
            let back = FrameBytes(try FrameGenerator(url: path, options: form).frame(at: .zero)).bytes
            try #require(back.count == pixels.count)
            var difference = 0
            for index in pixels.indices { difference += abs(Int(pixels[index]) - Int(back[index])) }
            if format == .png { #expect(difference == 0) } else { #expect(Double(difference) / Double(pixels.count) < 6) }
        }
    }
}
