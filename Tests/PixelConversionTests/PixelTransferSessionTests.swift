import Media
import PixelConversion
import SurfacePool
import TestSupport
import Testing

@Suite("PixelTransferSession")
struct PixelTransferSessionTests {
    private static let matrices: [UInt8] = [1, 6, 9]
    private static let ranges: [ColorRange] = [.limited, .full]
    private static let sitings: [ChromaSiting] = [.left, .center, .topLeft]

    /// The colours that a source of a format can be said to have: with --full all, else one of five, which comes by every matrix, range and siting;
    /// under a sanitizer, which has nothing to find in the sums, one of seven.
    private static func colors(_ format: PixelFormat) -> [ColorDescription] {
        let facts = format.description
        let ranges = facts.impliesFullRange && facts.model == .yuv ? [.full] : ranges
        let all = matrices.flatMap { matrix in
            ranges.flatMap { range in
                (facts.chromaShiftX + facts.chromaShiftY > 0 ? sitings : [.left]).map { siting in
                    ColorDescription(primaries: 1, transfer: 1, matrix: facts.model == .rgb ? 0 : matrix, range: range, chromaSiting: siting)
                }
            }
        }
        return stride(from: 0, to: all.count, by: TestExtent.rounds(5, full: 1, sanitized: 7)).map { all[$0] }
    }

    @Test(
        "to RGB within one code value of the exact colours: every matrix, range and siting of chroma",
        arguments: [
            PixelFormat.yuv420p, .nv12, .nv21, .yuv422p, .yuyv422, .yuv444p, .yuvj420p, .yuv410p, .yuv420p10le, .p010le, .yuv422p10le, .yuv444p10le,
            .yuv420p12le, .p016le,
        ])
    func rgb(source: PixelFormat) throws {
        var dice = Dice(seed: 31)
        let size = PixelSize(width: 24, height: 20)
        for color in Self.colors(source) {
            for target in [PixelFormat.bgra, .rgb24, .rgb0, .gbrp, .gbrp10le, .rgb48le] {
                for isSmooth in [false, true] {
                    let original = ExactFrame(source, size, color, isSmooth: isSmooth, &dice)
                    let transfer = PixelTransferSession(to: ConversionTarget(format: target), threads: 1)
                    let result = try transfer.convert(try original.frame())
                    // Outside the gamut each channel is clipped on its own.
                    let exact = original.converted(to: target, result.attributes.color)
                    // 16 bits are more than 10-bit chroma is interpolated in exactly; there a 12-bit step counts.
                    let tolerance: Double = target == .rgb48le ? 16 : 1
                    let worst = ExactFrame.worst(ExactFrame.codes(of: result), exact)
                    #expect(worst <= tolerance, "\(source) \(color) to \(target): \(worst)")
                    #expect(result.attributes.color.matrix == 0 && result.attributes.color.range == .full)
                }
            }
        }
    }

    @Test(
        "from one matrix and range to another within one code value",
        arguments: [PixelFormat.yuv444p, .yuv444p10le, .yuv420p, .p010le], [PixelFormat.yuv444p, .yuv444p10le, .nv24])
    func matrices(source: PixelFormat, target: PixelFormat) throws {
        var dice = Dice(seed: 5)
        for color in Self.colors(source) {
            for matrix in Self.matrices {
                for range in Self.ranges {
                    let original = ExactFrame(source, PixelSize(width: 24, height: 20), color, isSmooth: true, &dice)
                    let transfer = PixelTransferSession(to: ConversionTarget(format: target, matrix: matrix, range: range), threads: 1)
                    let result = try transfer.convert(try original.frame())
                    let now = result.attributes.color
                    #expect(now.matrix == matrix && now.range == range)
                    let worst = ExactFrame.worst(ExactFrame.codes(of: result), original.converted(to: target, now))
                    #expect(worst <= 1, "\(source) \(color) to \(target) \(now): \(worst)")
                }
            }
        }
    }

    @Test("RGB to YUV of full resolution within one code value", arguments: [PixelFormat.rgb24, .bgra, .gbrp, .gbrp10le, .rgb48le])
    func yuv(source: PixelFormat) throws {
        var dice = Dice(seed: 6)
        for matrix in Self.matrices {
            for range in Self.ranges {
                for target in [PixelFormat.yuv444p, .yuv444p10le] {
                    let color = ColorDescription(primaries: 1, transfer: 1, matrix: 0, range: .full, chromaSiting: .left)
                    let original = ExactFrame(source, PixelSize(width: 33, height: 17), color, isSmooth: false, &dice)
                    let transfer = PixelTransferSession(to: ConversionTarget(format: target, matrix: matrix, range: range), threads: 1)
                    let result = try transfer.convert(try original.frame())
                    let worst = ExactFrame.worst(ExactFrame.codes(of: result), original.converted(to: target, result.attributes.color))
                    #expect(worst <= 1, "\(source) to \(target) \(result.attributes.color): \(worst)")
                }
            }
        }
    }

    @Test(
        "depth and range alone within one code value, the arrangement exactly",
        arguments: [
            (PixelFormat.yuv420p, PixelFormat.nv12), (.nv12, .yuv420p), (.yuv420p, .p010le), (.p010le, .nv12), (.yuv420p10le, .p010le),
            (.p010le, .yuv420p10le), (.yuv422p, .yuyv422), (.uyvy422, .yuv422p), (.yuv444p, .nv24), (.yuv420p10le, .yuv420p), (.gray, .gray10le),
            (.gbrp, .bgra), (.rgb48le, .gbrp10le),
        ])
    func depth(source: PixelFormat, target: PixelFormat) throws {
        var dice = Dice(seed: 7)
        // Sides that chroma does not divide, too.
        for size in [PixelSize(width: 48, height: 40), PixelSize(width: 35, height: 27)] {
            if size.width % 2 == 1, source.description.planes[0].horizontalShift > 0 || target.description.planes[0].horizontalShift > 0 { continue }
            for color in Self.colors(source) where source.description.model != .rgb || color.range == .full {
                for range in source.description.model == .rgb ? [ColorRange.full] : [.unspecified, .limited, .full] {
                    let original = ExactFrame(source, size, color, isSmooth: false, &dice)
                    let transfer = PixelTransferSession(to: ConversionTarget(format: target, range: range), threads: 1)
                    let result = try transfer.convert(try original.frame())
                    #expect(result.attributes.color.range == (range == .unspecified ? color.range : range))
                    let worst = ExactFrame.worst(
                        ExactFrame.codes(of: result), original.rescaled(to: target, result.attributes.color.range))
                    let isArrangement = source.description.bitDepth == target.description.bitDepth && result.attributes.color.range == color.range
                    #expect(worst <= (isArrangement ? 0 : 1), "\(source) \(color) \(size) to \(target) \(range): \(worst)")
                }
            }
        }
    }

    @Test(
        "slices on several threads give the very same frame",
        arguments: TestExtent.cases(
            [nil, PixelSize(width: 150, height: 333), PixelSize(width: 320, height: 190), PixelSize(width: 90, height: 1100)], sanitizedStep: 3))
    func slices(size: PixelSize?) throws {
        var dice = Dice(seed: 8)
        for (source, target) in [(PixelFormat.yuv420p, PixelFormat.bgra), (.p010le, .nv12), (.yuv422p10le, .yuv420p)] {
            let color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited, chromaSiting: .left)
            let original = ExactFrame(source, PixelSize(width: 210, height: 262), color, isSmooth: false, &dice)
            let one = PixelTransferSession(to: ConversionTarget(format: target, size: size), threads: 1)
            let four = PixelTransferSession(to: ConversionTarget(format: target, size: size), threads: 4)
            let first = try one.convert(try original.frame()), second = try four.convert(try original.frame())
            let worst = ExactFrame.worst(ExactFrame.codes(of: first), ExactFrame.codes(of: second))
            #expect(worst == 0, "\(source) to \(target) \(String(describing: size))")
        }
    }

    @Test("only the visible part is converted")
    func crop() throws {
        var dice = Dice(seed: 9)
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited, chromaSiting: .center)
        for source in [PixelFormat.yuv420p, .nv12, .p010le, .yuyv422, .rgb24] {
            var color = color
            if source == .rgb24 { color.matrix = 0; color.range = .full }
            let original = ExactFrame(source, PixelSize(width: 30, height: 22), color, isSmooth: false, &dice)
            let transfer = PixelTransferSession(to: ConversionTarget(format: .gbrp), threads: 2)
            let plain = try transfer.convert(try original.frame()), cropped = try transfer.convert(try original.frame(left: 6, top: 4))
            #expect(cropped.visible == PixelRect(x: 0, y: 0, width: 30, height: 22))
            let worst = ExactFrame.worst(ExactFrame.codes(of: plain), ExactFrame.codes(of: cropped))
            #expect(worst == 0)
        }
    }

    @Test("another size keeps flat colours and the frame's shape", arguments: ConversionTarget.Filter.allCases)
    func scaling(filter: ConversionTarget.Filter) throws {
        var dice = Dice(seed: 10)
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: 6, range: .limited, chromaSiting: .left)
        for size in [PixelSize(width: 20, height: 75), PixelSize(width: 101, height: 33)] {
            var original = ExactFrame(.yuv420p, PixelSize(width: 60, height: 50), color, isSmooth: true, &dice)
            for (plane, code) in [90.0, 110, 170].enumerated() {
                original.planes[plane] = [Double](repeating: code, count: original.planes[plane].count)
            }
            let result = try PixelTransferSession(to: ConversionTarget(format: .gbrp, size: size, filter: filter), threads: 2).convert(
                try original.frame())
            let exact = original.converted(to: .gbrp, result.attributes.color).map { [Double](repeating: $0[0], count: size.width * size.height) }
            #expect(ExactFrame.worst(ExactFrame.codes(of: result), exact) <= 1)
            #expect(result.visible.size == size)
            let shape = result.attributes.displaySize(of: size)
            #expect(abs(Double(shape.width) / Double(shape.height) - 1.2) < 0.03)
        }
    }

    struct Shrinking: Sendable {
        var visible, made: PixelSize
        var most: Int?

        init(_ width: Int, _ height: Int, _ most: Int?, _ madeWidth: Int, _ madeHeight: Int) {
            (visible, self.most) = (PixelSize(width: width, height: height), most)
            made = PixelSize(width: madeWidth, height: madeHeight)
        }
    }

    @Test(
        "a frame with more pixels than are wanted becomes smaller, in its shape",
        arguments: [
            Shrinking(40, 20, nil, 40, 20), Shrinking(40, 20, 800, 40, 20), Shrinking(40, 20, 799, 39, 19), Shrinking(40, 20, 200, 20, 10),
            Shrinking(20, 40, 200, 10, 20), Shrinking(1000, 2, 500, 500, 1), Shrinking(2, 1000, 500, 1, 500), Shrinking(1000, 1, 10, 10, 1),
            Shrinking(8, 8, 1, 1, 1),
        ])
    func shrinking(_ row: Shrinking) throws {
        let pool = SurfacePool(layout: SurfaceLayout(format: .gray, covering: row.visible), allocator: MemfdAllocator(), maximumCount: 1)
        let frame = try pool.acquire()?.finish()
        guard let frame else { throw CancellationError() }
        var target = ConversionTarget(format: .bgr0)
        target.mostPixels = row.most
        let made = try PixelTransferSession(to: target, engine: .fast).convert(
            VideoFrame(use: frame, visible: PixelRect(row.visible), presentationTime: .zero, sequence: 0))
        #expect(made.visible.size == row.made && made.visible.width * made.visible.height <= row.most ?? .max)
    }

    @Test("a size that is asked for is made, however few pixels are wanted otherwise")
    func statedSize() throws {
        var dice = Dice(seed: 17), target = ConversionTarget(format: .bgr0, size: PixelSize(width: 20, height: 10))
        target.mostPixels = 10
        let original = ExactFrame(.yuv420p, PixelSize(width: 16, height: 16), .bt709, isSmooth: false, &dice)
        #expect(try PixelTransferSession(to: target, engine: .fast).convert(try original.frame()).visible.size == target.size)
    }

    @Test("linear scaling of a ramp is a ramp")
    func ramp() throws {
        var dice = Dice(seed: 11)
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .full, chromaSiting: .left)
        var original = ExactFrame(.gray10le, PixelSize(width: 64, height: 64), color, isSmooth: true, &dice)
        for y in 0..<64 {
            for x in 0..<64 {
                let code: Double = Double(x) * 8 + Double(y) * 4
                original.planes[0][y * 64 + x] = code
            }
        }
        let result = try PixelTransferSession(
            to: ConversionTarget(format: .gray10le, size: PixelSize(width: 128, height: 128), filter: .bilinear), threads: 3
        ).convert(try original.frame())
        let codes = ExactFrame.codes(of: result)[0]
        // Between the outer samples, which have no neighbours.
        for y in 1..<127 {
            for x in 1..<127 {
                let exact: Double = (Double(x) / 2 - 0.25) * 8 + (Double(y) / 2 - 0.25) * 4
                #expect(abs(codes[y * 128 + x] - exact) <= 1)
            }
        }
    }

    @Test("the frame keeps its times; its memory comes from a pool, which applies back-pressure")
    func pool() throws {
        var dice = Dice(seed: 12)
        let statistics = FrameStatistics()
        let original = ExactFrame(.yuv420p, PixelSize(width: 32, height: 16), .bt709, isSmooth: false, &dice)
        let transfer = PixelTransferSession(to: ConversionTarget(format: .bgra), holdCount: 1, threads: 1, statistics: statistics)
        var held = Ring<VideoFrame>(capacity: 4)
        for _ in 0..<2 { held.append(try transfer.convert(try original.frame())) }
        #expect(held[0].presentationTime == MediaTime(value: 7, timescale: 25) && held[0].sequence == 3 && held[0].sampleNumber == 5)
        #expect(statistics.bytesCopied == 2 * 32 * 16 * 4)
        transfer.interrupt()
        #expect { _ = try transfer.convert(try original.frame()) } throws: { ($0 as? PixelConversionError)?.code == .outOfSurfaces }
        transfer.resume()
        held.removeAll()
        let again = try transfer.convert(try original.frame())
        #expect(transfer.poolStatistics.allocations == 2 && again.pixelFormat == .bgra)
    }

    @Test("a conversion that is not possible is refused with the reason")
    func unsupported() throws {
        var dice = Dice(seed: 13)
        let original = ExactFrame(.yuv420p, PixelSize(width: 16, height: 16), .bt709, isSmooth: false, &dice)
        for target in [PixelFormat.pal8, .monowhite, .rgb565le] {
            let transfer = PixelTransferSession(to: ConversionTarget(format: target), threads: 1)
            #expect(!transfer.canConvert(.yuv420p))
            #expect { _ = try transfer.convert(try original.frame()) } throws: { ($0 as? PixelConversionError)?.code == .unsupportedFormat }
        }
        let strange = PixelTransferSession(to: ConversionTarget(format: .yuv420p, matrix: 200), threads: 1)
        #expect { _ = try strange.convert(try original.frame()) } throws: { "\($0)".contains("matrix 200") }
        #expect(PixelTransferSession(to: ConversionTarget(format: .p010le)).canConvert(.rgb24))
    }

    // MARK: For display

    private static let gray = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited, chromaSiting: .left)

    @Test(
        "the fast engine shows 8-bit frames within three code values of the exact colours",
        arguments: [PixelFormat.yuv420p, .nv12, .yuv422p, .yuv444p], [UInt8(1), 6, 9])
    func fast(source: PixelFormat, matrix: UInt8) throws {
        var dice = Dice(seed: 14)
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: matrix, range: .limited, chromaSiting: .left)
        var original = ExactFrame(source, PixelSize(width: 32, height: 24), color, isSmooth: true, &dice)
        // Flat chroma, because libswscale ignores its siting.
        for plane in 1...2 { original.planes[plane] = [Double](repeating: plane == 1 ? 120 : 140, count: original.planes[plane].count) }
        let session = PixelTransferSession(to: ConversionTarget(format: .bgr0), engine: .fast)
        #expect(session.canConvert(source))
        let result = try session.convert(try original.frame())
        let worst = ExactFrame.worst(ExactFrame.codes(of: result), original.converted(to: .bgr0, result.attributes.color))
        #expect(worst <= 3)
        #expect(session.bytesWritten == 32 * 24 * 4 && result.attributes.color.matrix == 0)
    }

    @Test("the fast engine converts from the first pixel that it can separate from its neighbours, and shows the visible part only")
    func fastCrop() throws {
        var dice = Dice(seed: 15)
        let original = ExactFrame(.yuv420p, PixelSize(width: 30, height: 22), Self.gray, isSmooth: true, &dice)
        let session = PixelTransferSession(to: ConversionTarget(format: .bgr0), engine: .fast)
        let plain = try session.convert(try original.frame()), cropped = try session.convert(try original.frame(left: 3, top: 5))
        #expect(plain.visible == PixelRect(x: 0, y: 0, width: 30, height: 22))
        #expect(cropped.visible == PixelRect(x: 1, y: 1, width: 30, height: 22))
    }

    @Test("a session that does not wait refuses a frame while its surfaces are in use", arguments: PixelTransferSession.Engine.allCases)
    func refusal(engine: PixelTransferSession.Engine) throws {
        var dice = Dice(seed: 16)
        let original = ExactFrame(.yuv420p, PixelSize(width: 32, height: 16), Self.gray, isSmooth: true, &dice)
        let session = PixelTransferSession(to: ConversionTarget(format: .bgr0), engine: engine, holdCount: 1, waitsForSurface: false)
        var held = Ring<VideoFrame>(capacity: 2)
        for _ in 0..<2 { held.append(try session.convert(try original.frame())) }
        #expect { _ = try session.convert(try original.frame()) } throws: { ($0 as? PixelConversionError)?.code == .outOfSurfaces }
        held.removeAll()
        let again = try session.convert(try original.frame())
        #expect(again.pixelFormat == .bgr0 && session.poolStatistics.allocations == 2)
    }

    @Test("a display's own memory gets the frame at the size asked for, and nothing beside it")
    func displayScaler() throws {
        var dice = Dice(seed: 17)
        var original = ExactFrame(.yuv420p, PixelSize(width: 32, height: 16), Self.gray, isSmooth: true, &dice)
        for plane in 0..<3 { original.planes[plane] = [Double](repeating: plane == 0 ? 235 : 128, count: original.planes[plane].count) }
        let frame = try original.frame(left: 2, top: 4), scaler = DisplayScaler()
        #expect(scaler.part(of: frame) == frame.visible)
        let pitch = 128 * 4, place = PixelRect(x: 16, y: 8, width: 64, height: 32)
        var pixels = [UInt8](repeating: 7, count: pitch * 48)
        let isDone = unsafe pixels.withUnsafeMutableBytes { bytes in
            unsafe scaler.convert(frame, frame.visible, to: place.size, at: bytes.baseAddress! + place.y * pitch + place.x * 4, pitch: pitch)
        }
        #expect(isDone)
        for y in 0..<48 {
            for x in 0..<128 {
                let isInside = (place.x..<place.x + place.width).contains(x) && (place.y..<place.y + place.height).contains(y)
                let green = pixels[y * pitch + x * 4 + 1]
                #expect(isInside ? green > 200 : green == 7, "\(x),\(y)")
            }
        }
    }
}
