import Media
import SurfacePool
import TestSupport
import Testing

@testable import PixelConversion

/// What conversions do with alpha.
@Suite struct AlphaTests {
    private static let size = PixelSize(width: 33, height: 18)

    /// A frame whose bytes are all by chance, alpha included.
    private static func frame(_ format: PixelFormat, _ dice: inout Dice, size: PixelSize = size) throws -> VideoFrame {
        let layout = SurfaceLayout(format: format, covering: size)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw PixelConversionError(.outOfSurfaces, "there is no surface") }
        let most = UInt16(1 << format.description.bitDepth - 1)
        unsafe writer.withUnsafeMutableBytes { bytes in
            for place in stride(from: 0, to: bytes.count - 1, by: 2) {
                let value = UInt16.random(in: 0 ... .max, using: &dice)
                unsafe bytes.storeBytes(of: format.description.bitDepth > 8 ? value & most : value, toByteOffset: place, as: UInt16.self)
            }
        }
        var attributes = FrameAttributes()
        let isRGB = format.description.model == .rgb
        attributes.color = ColorDescription(
            primaries: 1, transfer: 1, matrix: isRGB ? 0 : 1, range: isRGB ? .full : .limited, chromaSiting: .left)
        return VideoFrame(use: writer.finish(), visible: PixelRect(size), attributes: attributes, presentationTime: .zero, sequence: 0)
    }

    /// Component `index` of a frame in packed 8-bit RGB.
    private static func component(_ frame: borrowing VideoFrame, _ index: Int, of count: Int = 4) -> [UInt8] {
        let bytes = FrameBytes(frame).bytes
        return stride(from: index, to: bytes.count, by: count).map { bytes[$0] }
    }

    /// The last plane of an 8-bit frame with alpha.
    private static func alpha(_ frame: borrowing VideoFrame) -> [UInt8] {
        FrameBytes(frame).bytes.suffix(frame.visible.width * frame.visible.height)
    }

    @Test(arguments: [(PixelFormat.rgba, 3), (.bgra, 3), (.argb, 0), (.abgr, 0)], [1, 3])
    func `alpha goes along, straight, and the colours are those without it`(_ target: (format: PixelFormat, place: Int), _ threads: Int) throws {
        var dice = Dice(seed: 5)
        for source in [PixelFormat.yuva420p, .yuva444p] {
            // High enough for a slice for each thread.
            let frame = try Self.frame(source, &dice, size: PixelSize(width: 33, height: 270))
            let converted = try PixelTransferSession(to: ConversionTarget(format: target.format), threads: threads).convert(frame)
            #expect(Self.component(converted, target.place) == Self.alpha(frame))
            let plain = try PixelTransferSession(to: ConversionTarget(format: .rgb24), threads: threads).convert(frame)
            let first = target.place == 0 ? 1 : 0, isRedFirst = target.format == .argb || target.format == .rgba
            for index in 0..<3 {
                let place = first + (isRedFirst ? index : 2 - index)
                #expect(Self.component(converted, place) == Self.component(plain, index, of: 3))
            }
        }
    }

    @Test func `planes of alpha keep their numbers, and deeper ones the same share of the most`() throws {
        var dice = Dice(seed: 6)
        let frame = try Self.frame(.yuva420p, &dice), alpha = Self.alpha(frame)
        let same = try PixelTransferSession(to: ConversionTarget(format: .yuva444p)).convert(frame)
        #expect(Self.alpha(same) == alpha)
        let deep = try PixelTransferSession(to: ConversionTarget(format: .rgba64le)).convert(frame), bytes = FrameBytes(deep).bytes
        let numbers = stride(from: 6, to: bytes.count, by: 8).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
        #expect(numbers == alpha.map { Int($0) * 257 })
        let back = try PixelTransferSession(to: ConversionTarget(format: .rgba)).convert(deep)
        #expect(Self.component(back, 3) == alpha)
    }

    @Test func `alpha is scaled with the frame`() throws {
        var dice = Dice(seed: 7)
        let frame = try Self.frame(.yuva420p, &dice), size = PixelSize(width: 66, height: 36)
        let target = ConversionTarget(format: .rgba, size: size, filter: .nearest)
        let alpha = Self.component(try PixelTransferSession(to: target).convert(frame), 3), original = Self.alpha(frame)
        let expected = (0..<size.width * size.height).map { (place: Int) -> UInt8 in
            let row = place / size.width / 2, column = place % size.width / 2
            return original[row * Self.size.width + column]
        }
        #expect(alpha == expected)
    }

    @Test func `frames without alpha become opaque, and targets without leave it out`() throws {
        var dice = Dice(seed: 8)
        let plain = try Self.frame(.yuv420p, &dice)
        #expect(Self.component(try PixelTransferSession(to: ConversionTarget(format: .bgra)).convert(plain), 3).allSatisfy { $0 == 255 })
        let frame = try Self.frame(.yuva420p, &dice), left = try PixelTransferSession(to: ConversionTarget(format: .yuv420p)).convert(frame)
        #expect(FrameBytes(left).bytes == FrameBytes(frame).bytes.dropLast(Self.size.width * Self.size.height))
    }

    /// Each code value times the alpha, rounded.
    private static func dimmed(_ values: [UInt8], _ alpha: [UInt8]) -> [UInt8] {
        zip(values, alpha).map { UInt8((Double($0) * Double($1) / 255).rounded()) }
    }

    @Test(arguments: [(PixelFormat.bgr0, PixelTransferSession.Engine.fast), (.bgr0, .exact), (.rgb24, .exact)])
    func `over black each colour is its share of itself`(_ format: PixelFormat, _ engine: PixelTransferSession.Engine) throws {
        var dice = Dice(seed: 9)
        let frame = try Self.frame(.yuva420p, &dice), alpha = Self.alpha(frame)
        var target = ConversionTarget(format: format)
        let plain = try PixelTransferSession(to: target).convert(frame)
        target.liesOverBlack = engine == .exact
        let shown = try PixelTransferSession(to: target, engine: engine).convert(frame), step = format == .rgb24 ? 3 : 4
        for index in 0..<3 {
            #expect(Self.component(shown, index, of: step) == Self.dimmed(Self.component(plain, index, of: step), alpha))
        }
        // A screenshot takes the unused byte for alpha.
        if step == 4 { #expect(Self.component(shown, 3).allSatisfy { $0 == 255 }) }
    }

    @Test func `displays lay frames over black, and show packed RGB as it is`() throws {
        var dice = Dice(seed: 10)
        // Rows of whole vectors, which libswscale writes.
        let size = PixelSize(width: 48, height: 18)
        for (format, isDimmed) in [(PixelFormat.yuva420p, true), (.gbrap, true), (.bgra, false)] {
            let frame = try Self.frame(format, &dice, size: size), alpha = format == .bgra ? Self.component(frame, 3) : Self.alpha(frame)
            var pixels = [UInt8](repeating: 0, count: 4 * size.width * size.height)
            let isDone = unsafe pixels.withUnsafeMutableBytes { bytes in
                unsafe DisplayScaler().convert(frame, PixelRect(size), to: size, at: bytes.baseAddress!, pitch: 4 * size.width)
            }
            let plain = try PixelTransferSession(to: ConversionTarget(format: .bgr0)).convert(frame)
            for index in 0..<3 {
                let values = stride(from: index, to: pixels.count, by: 4).map { pixels[$0] }, full = Self.component(plain, index)
                #expect(isDone && values == (isDimmed ? Self.dimmed(full, alpha) : full), "\(format) \(index)")
            }
        }
    }

    @Test func `of several formats that a consumer takes one with alpha is chosen for frames with alpha`() throws {
        let size = PixelSize(width: 64, height: 48)
        for (formats, usages, expected) in [
            ([], [.display], nil), ([.yuv420p, .rgba], [], PixelFormat.rgba), ([.yuv420p, .nv12], [], .nv12), ([], [.cpu], .yuva420p),
        ] as [(Set<PixelFormat>, Set<OutputRequirements.Usage>, PixelFormat?)] {
            let requirements = OutputRequirements(formats: formats, usages: usages)
            let offer = OutputRequirements.Offer(format: .yuva420p, modifier: .linear, size: size, memory: .memfd, isDMABuf: false)
            let target = try #require(requirements.target(for: offer)).format
            #expect(expected == nil ? target.description.hasAlpha && target.fourCC != nil : target == expected)
        }
    }
}
