import Foundation
import Media
import PixelConversion
import SurfacePool
import TestSupport
import Testing

/// What a viewer changes of brightness and colours.
@Suite struct ColorBalanceTests {
    private static func balance(_ numbers: [ColorBalance.Control: Int]) -> ColorBalance {
        var balance = ColorBalance()
        for (control, number) in numbers { balance[control] = number }
        return balance
    }

    @Test(
        arguments: [
            ([:], 0.5, 0.5), ([.brightness: 20], 0.5, 0.7), ([.brightness: -100], 1, 0), ([.contrast: -100], 0.8, 0), ([.contrast: 100], 0.5, 1),
            ([.contrast: 50, .brightness: -10], 0.4, 0.5), ([.gamma: 100], 0.125, 0.770_9), ([.gamma: -100], 0.770_9, 0.124_7),
            ([.gamma: 50], 0, 0), ([.gamma: 50], 1.2, 1), ([.gamma: 50, .brightness: -50], 0.3, 0), ([.saturation: -100, .hue: 30], 0.3, 0.3),
        ] as [([ColorBalance.Control: Int], Double, Double)])
    func luma(_ numbers: [ColorBalance.Control: Int], _ before: Double, _ after: Double) {
        let balance = Self.balance(numbers)
        #expect(abs(balance.bent(linear: balance.linear(luma: before)) - after) < 1e-3)
    }

    @Test(
        arguments: [
            ([:], 1, 0), ([.saturation: -100], 0, 0), ([.saturation: 100], 2, 0), ([.contrast: 50], 1.5, 0), ([.hue: 50], 0, 1),
            ([.hue: -50], 0, -1), ([.hue: 100], -1, 0), ([.saturation: 50, .contrast: -50, .hue: 50], 0, 0.75),
            ([.brightness: 40, .gamma: 40], 1, 0),
        ] as [([ColorBalance.Control: Int], Double, Double)])
    func chroma(_ numbers: [ColorBalance.Control: Int], _ along: Double, _ across: Double) {
        let factors = Self.balance(numbers).chroma
        #expect(abs(factors.along - along) < 1e-9 && abs(factors.across - across) < 1e-9)
    }

    @Test func `numbers stay within their range`() {
        let balance = Self.balance([.hue: 1000, .contrast: -1000, .gamma: 7])
        #expect(balance[.hue] == 100 && balance[.contrast] == -100 && balance[.gamma] == 7 && balance[.saturation] == 0)
        #expect(!balance.isNeutral && ColorBalance().isNeutral)
    }

    private static let frameSize = PixelSize(width: 150, height: 90)
    private static let part = PixelRect(x: 4, y: 5, width: 121, height: 77)

    /// The same numbers each time (xorshift).
    private struct Numbers: RandomNumberGenerator {
        private var state: UInt64 = 7

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    /// A frame of random bytes; more than 8 bits are within the format's depth.
    private func frame(_ format: PixelFormat, _ range: ColorRange) throws -> VideoFrame {
        let layout = SurfaceLayout(format: format, covering: Self.frameSize)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw PixelConversionError(.outOfSurfaces, "there is no surface") }
        var random = Numbers()
        let depth = format.description.bitDepth
        unsafe writer.withUnsafeMutableBytes { memory in
            if depth == 8 {
                for index in memory.indices { unsafe memory[index] = UInt8.random(in: 0...255, using: &random) }
            } else {
                for index in stride(from: 0, to: memory.count - 1, by: 2) {
                    let value = UInt16.random(in: 0..<UInt16(1 << depth), using: &random) << (format == .p010le ? 6 : 0)
                    unsafe memory.storeBytes(of: value, toByteOffset: index, as: UInt16.self)
                }
            }
        }
        var attributes = FrameAttributes()
        attributes.color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: range)
        return VideoFrame(
            use: writer.finish(), visible: Self.part, attributes: attributes, presentationTime: MediaTime(value: 5, timescale: 1), sequence: 3)
    }

    /// A frame's code values of Y, Cb and Cr, and of alpha, pixel by pixel.
    private func values(_ frame: borrowing VideoFrame) throws -> [[Int]] {
        let format = frame.pixelFormat, depth = format.description.bitDepth
        let planar: PixelFormat
        switch format {
        case .nv12: planar = .yuv420p
        case .p010le: planar = .yuv420p10le
        case .yuyv422: planar = .yuv422p
        default: planar = format
        }
        // The exact engine keeps code values where only their places change.
        let bytes =
            planar == format
            ? FrameBytes(frame).bytes : FrameBytes(try PixelTransferSession(to: ConversionTarget(format: planar)).convert(frame)).bytes
        let samples = depth == 8 ? bytes.map(Int.init) : stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
        var first = 0
        return planar.description.planes.map { plane in
            let count = ((Self.part.width + (1 << plane.horizontalShift) - 1) >> plane.horizontalShift) * plane.rows(height: Self.part.height)
            defer { first += count }
            return Array(samples[first..<first + count])
        }
    }

    @Test(
        arguments: [PixelFormat.nv12, .yuv420p, .yuv444p, .yuv422p10le, .p010le, .yuyv422, .gray, .yuva420p],
        [ColorRange.limited, .full])
    func `each sample becomes what the formulas say`(_ format: PixelFormat, _ range: ColorRange) throws {
        let session = ColorBalanceSession()
        for numbers in [
            [.brightness: 13, .contrast: -20, .saturation: 40, .hue: 15, .gamma: 22], [.contrast: -20, .hue: 15, .saturation: 40],
            [.saturation: -100],
        ]
            as [[ColorBalance.Control: Int]]
        {
            let source = try frame(format, range), balance = Self.balance(numbers)
            session.balance = balance
            let changed = try session.convert(source)
            #expect(changed.pixelFormat == format && changed.visible == Self.part && changed.sequence == 3)
            #expect(changed.presentationTime == MediaTime(value: 5, timescale: 1) && changed.attributes == source.attributes)
            let before = try values(source), after = try values(changed), depth = format.description.bitDepth
            let last = Double(1 << depth - 1), scale = Double(1 << (depth - 8)), middle = Double(1 << (depth - 1))
            let black = range == .full ? 0 : 16 * scale, white = range == .full ? last : 235 * scale
            func isRight(_ code: Int, _ exact: Double) -> Bool { abs(Double(code) - min(max(exact, 0), last)) <= 1 }
            let luma = zip(before[0], after[0]).allSatisfy { old, new in
                let value = balance.bent(linear: balance.linear(luma: (Double(old) - black) / (white - black)))
                return isRight(new, black + value * (white - black))
            }
            #expect(luma, "\(numbers)")
            // Chroma depends on luma where that can be clipped or bent.
            guard before.count >= 3, balance[.gamma] == 0 else { continue }
            let factors = balance.chroma
            let chroma = before[1].indices.allSatisfy { index in
                let cb = Double(before[1][index]) - middle, cr = Double(before[2][index]) - middle
                return isRight(after[1][index], middle + factors.along * cb + factors.across * cr)
                    && isRight(after[2][index], middle + factors.along * cr - factors.across * cb)
            }
            #expect(chroma, "\(numbers)")
            if before.count == 4 { #expect(before[3] == after[3], "alpha") }
        }
    }

    /// Every colour of a grid in RGB, as mpv changes it: contrast and brightness of each component, then the exponent, clipped.
    @Test(
        arguments: [
            ([.brightness: -40], 3, 30), ([.brightness: 40], 3, 30), ([.brightness: -100], 1, 3), ([.contrast: 60], 4, 60),
            ([.contrast: 50, .brightness: -30], 4, 50), ([.gamma: 20], 7, 90), ([.gamma: -20], 7, 90),
        ] as [([ColorBalance.Control: Int], Double, Int)])
    func `colours become what they become in RGB`(_ numbers: [ColorBalance.Control: Int], _ mean: Double, _ most: Int) throws {
        let steps = [0.0, 0.2, 0.4, 0.6, 0.8, 1]
        let colors = steps.flatMap { red in steps.flatMap { green in steps.map { blue in SIMD3(red, green, blue) } } }
        let balance = Self.balance(numbers), exponent = pow(8, -Double(balance[.gamma]) / 100)
        let expected = colors.map { color -> SIMD3<Double> in
            let linear = color * (Double(balance[.contrast]) / 100 + 1) + Double(balance[.brightness]) / 100
            let clipped = linear.clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1))
            return SIMD3(pow(clipped.x, exponent), pow(clipped.y, exponent), pow(clipped.z, exponent))
        }
        let layout = SurfaceLayout(format: .yuv444p, covering: PixelSize(width: colors.count, height: 1))
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw PixelConversionError(.outOfSurfaces, "there is no surface") }
        unsafe writer.withUnsafeMutableBytes { memory in
            for (x, color) in colors.enumerated() {
                let luma = (color * SIMD3(0.2126, 0.7152, 0.0722)).sum()
                let codes = [16 + 219 * luma, 128 + 224 * (color.z - luma) / 1.8556, 128 + 224 * (color.x - luma) / 1.5748]
                for (plane, code) in codes.enumerated() { unsafe memory[layout.plane(plane).offset + x] = UInt8(code.rounded()) }
            }
        }
        var attributes = FrameAttributes()
        attributes.color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited)
        let session = ColorBalanceSession()
        session.balance = balance
        let changed = try session.convert(
            VideoFrame(
                use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: colors.count, height: 1), attributes: attributes, presentationTime: .zero,
                sequence: 0))
        let shown = FrameBytes(try PixelTransferSession(to: ConversionTarget(format: .rgb24)).convert(changed)).bytes
        var sum = 0, greatest = 0
        for (x, color) in expected.enumerated() {
            for component in 0..<3 {
                let difference = abs(Int(shown[3 * x + component]) - Int((color[component] * 255).rounded()))
                sum += difference
                greatest = max(greatest, difference)
            }
        }
        #expect(Double(sum) / Double(shown.count) <= mean && greatest <= most, "\(Double(sum) / Double(shown.count)), \(greatest)")
    }

    @Test(arguments: [PixelFormat.nv12, .yuv444p, .p010le, .yuva420p, .gray10le])
    func `a neutral balance changes nothing`(_ format: PixelFormat) throws {
        let source = try frame(format, .limited), same = try ColorBalanceSession().convert(source)
        #expect(FrameBytes(same) == FrameBytes(source))
    }

    @Test(arguments: [PixelFormat.rgb24, .bgra, .gbrp])
    func `frames in RGB lose their colour and keep their alpha`(_ format: PixelFormat) throws {
        let statistics = FrameStatistics(), session = ColorBalanceSession(statistics: statistics)
        session.balance[.saturation] = -100
        let source = try frame(format, .full), changed = try session.convert(source)
        let hasAlpha = format.description.hasAlpha
        #expect(changed.pixelFormat == (hasAlpha ? .yuva444p : .yuv444p) && changed.visible.size == Self.part.size)
        let planes = try values(changed)
        #expect(planes[1].allSatisfy { $0 == 128 } && planes[2].allSatisfy { $0 == 128 } && Set(planes[0]).count > 100)
        if hasAlpha {
            let bytes = FrameBytes(source).bytes
            #expect(planes[3] == stride(from: 3, to: bytes.count, by: 4).map { Int(bytes[$0]) })
        }
        #expect(statistics.bytesCopied > 0)
    }

    @Test func `what cannot be changed is said, and no surface is waited for where none is to be`() throws {
        let session = ColorBalanceSession(holdCount: 1, waitsForSurface: false)
        session.balance[.contrast] = 10
        #expect(!ColorBalanceSession.canConvert(.pal8) && !ColorBalanceSession.canConvert(.rgb565le) && ColorBalanceSession.canConvert(.yuyv422))
        #expect(throws: PixelConversionError(.unsupportedFormat, "the colours of pal8 cannot be changed")) {
            _ = try session.convert(try frame(.pal8, .full))
        }
        let source = try frame(.nv12, .limited)
        var held = try (0..<2).map { _ in SharedFrame(try session.convert(source)) }
        #expect { _ = try session.convert(source) } throws: { ($0 as? PixelConversionError)?.code == .outOfSurfaces }
        withExtendedLifetime(held) {}
        held.removeAll()
        #expect(throws: Never.self) { _ = try session.convert(source) }
    }
}
