import Media
import SurfacePool
import TestSupport
import Testing

@testable import PixelConversion

/// What HDR becomes on displays in standard dynamic range: by the standards' own numbers, by mpv's, and every path by the formulas.
@Suite("Tone mapping")
struct ToneMappingTests {
    static let pq = ColorDescription(primaries: 9, transfer: 16, matrix: 9, range: .limited, chromaSiting: .left)
    static let hlg = ColorDescription(primaries: 9, transfer: 18, matrix: 9, range: .limited, chromaSiting: .left)

    static func metadata(peak: UInt32, brightest: UInt16 = 0) -> HDRStaticMetadata {
        let point = HDRStaticMetadata.Chromaticity(x: 15_635, y: 16_450)
        return HDRStaticMetadata(
            red: point, green: point, blue: point, white: point, maximumLuminance: peak * 10_000, minimumLuminance: 1,
            maximumContentLightLevel: brightest)
    }

    static func mapping(_ color: ColorDescription, peak: UInt32 = 0, _ mapping: ToneMapping = ToneMapping()) -> LightMapping {
        LightMapping(color, peak == 0 ? nil : metadata(peak: peak), mapping)!
    }

    @Test(
        "PQ's code values are those of BT.2408's tables", arguments: ["0.0 0", "0.5081 100", "0.5807 203", "0.7518 1000", "0.9026 4000", "1 10000"])
    func pqLevels(row: String) {
        let numbers = row.split(separator: " ").map { Double($0)! }
        #expect(abs(TransferCurve.pqCode(numbers[1]) - numbers[0]) < 0.00006)
        #expect(abs(TransferCurve.pqLight(TransferCurve.pqCode(numbers[1])) - numbers[1]) < 1e-6 * max(numbers[1], 1))
    }

    @Test("HLG's reference white, 75 %, is 203 cd/m² on its reference display, and its peak 1000")
    func hlgLevels() {
        func shown(_ code: Double) -> Double { TransferCurve.hlgLight(code) * TransferCurve.hlgGain(TransferCurve.hlgLight(code)) }
        #expect(abs(shown(0.75) - 203) < 1)
        #expect(abs(shown(1) - 1000) < 0.01)
        #expect(abs(TransferCurve.hlgLight(0.5) - 1 / 12.0) < 1e-9)
    }

    @Test("BT.2020 to BT.709 is the matrix of BT.2087, and white stays white")
    func matrix() {
        let expected: [SIMD3<Double>] = [
            SIMD3(1.6605, -0.5876, -0.0728), SIMD3(-0.1246, 1.1329, -0.0083), SIMD3(-0.0182, -0.1006, 1.1187),
        ]
        for (row, wanted) in zip(ColorPrimaries.bt2020.rows(to: .bt709), expected) {
            #expect(abs((row - wanted).x) < 0.0001 && abs((row - wanted).y) < 0.0001 && abs((row - wanted).z) < 0.0001)
            #expect(abs(row.sum() - 1) < 1e-9)
        }
        #expect(abs(ColorPrimaries.bt2020.luminance.x - 0.2627) < 0.0001)
    }

    @Test("every curve begins at black, ends at white and never falls", arguments: ToneMapping.Curve.allCases)
    func curves(curve: ToneMapping.Curve) {
        for peak in [1000, 4000, 10_000] as [UInt32] {
            let mapping = Self.mapping(Self.pq, peak: peak, ToneMapping(curve: curve))
            let most = Double(peak) / ToneMapping.referenceWhite
            #expect(mapping.mapped(0) < 1e-9)
            #expect(abs(mapping.mapped(most) - 1) < 1e-9)
            #expect(abs(mapping.mapped(2 * most) - 1) < 1e-9)
            let values = (0...2000).map { mapping.mapped(most * Double($0) / 2000) }
            #expect(zip(values, values.dropFirst()).allSatisfy { $0 <= $1 + 1e-12 })
        }
    }

    @Test("BT.2390 leaves what is below its knee as it is, and a display as bright as the film gets all")
    func knee() {
        let mapping = Self.mapping(Self.pq, peak: 1000)
        // The knee lies at 1.5 · 0.5807 − 0.5 · 0.7518 = 0.4952 in PQ.
        let knee = TransferCurve.pqLight(0.4952)
        for light in [0.1, 5, 30, knee - 0.1] { #expect(abs(mapping.mapped(light / 203) - light / 203) < 1e-9) }
        #expect(mapping.mapped(150 / 203) < 148 / 203)
        let bright = Self.mapping(Self.pq, peak: 400, ToneMapping(targetPeak: 600))
        #expect(abs(bright.mapped(0.5) - 0.5) < 1e-9)
    }

    @Test("the film's peak: the brightest pixel, else the mastering display, else 1000; never below the display's")
    func peaks() {
        func peak(_ hdr: HDRStaticMetadata?, _ color: ColorDescription = Self.pq) -> Double? {
            LightMapping(color, hdr, ToneMapping())?.sourcePeak
        }
        #expect(peak(nil) == 1000)
        #expect(peak(Self.metadata(peak: 4000)) == 4000)
        #expect(peak(Self.metadata(peak: 4000, brightest: 700)) == 700)
        #expect(peak(Self.metadata(peak: 100)) == 203)
        #expect(peak(Self.metadata(peak: 4000), Self.hlg) == 1000)
        #expect(peak(nil, .bt709) == nil)
    }

    /// As mpv 0.35.1 shows them (`--vo=gpu --hdr-compute-peak=no`), for a peak of 10,000 cd/m² in PQ.
    static let shownByMPV = [
        "pq 387 387 387 100 100 100", "pq 748 748 748 238 238 238", "pq 582 700 752 142 227 242", "pq 694 445 665 255 91 212",
        "pq 499 643 584 72 218 183", "hlg 180 180 180 44 44 44", "hlg 794 761 722 241 225 213", "hlg 686 749 647 190 225 185",
        "hlg 582 700 752 126 208 224",
    ]

    @Test("colours are those of mpv, within 2 of 255", arguments: shownByMPV)
    func mpv(row: String) {
        let words = row.split(separator: " "), numbers = words.dropFirst().map { Double($0)! }
        let mapping = words[0] == "pq" ? Self.mapping(Self.pq, peak: 10_000) : Self.mapping(Self.hlg)
        let made = mapping.mapped(code: SIMD3(numbers[0], numbers[1], numbers[2]) / 1023) * 255
        let wanted = SIMD3(numbers[3], numbers[4], numbers[5])
        for index in 0..<3 { #expect(abs(made[index] - wanted[index]) < 2, "\(row): \(made)") }
    }

    @Test(
        "frames are what the formulas say, within one code value",
        arguments: [PixelFormat.bgr0, .rgb24, .gbrp, .rgb48le, .gbrp10le], ToneMapping.Curve.allCases)
    func frames(target: PixelFormat, curve: ToneMapping.Curve) throws {
        var dice = Dice(seed: 41)
        let size = PixelSize(width: 37, height: 24)
        for color in [Self.pq, Self.hlg] {
            var full = color
            (full.matrix, full.range) = (0, .full)
            // RGB has no chroma to be interpolated, nor colours that are clipped before the light is mapped.
            let original = try ExactFrame(.gbrp12le, size, full, isSmooth: false, &dice).frame()
            let wanted = ConversionTarget(format: target, toneMapping: ToneMapping(curve: curve))
            let result = try PixelTransferSession(to: wanted, threads: 2).convert(original)
            #expect(result.attributes.color.primaries == 1 && result.attributes.color.transfer == 4 && result.attributes.hdr == nil)
            let before = ExactFrame.codes(of: original), after = ExactFrame.codes(of: result), depth = target.description.bitDepth
            let most = Double((1 << depth) - 1), mapping = Self.mapping(color, ToneMapping(curve: curve))
            var worst = 0.0
            for index in before[0].indices {
                let exact = mapping.mapped(code: SIMD3(before[0][index], before[1][index], before[2][index]) / 4095) * most
                for plane in 0..<3 { worst = max(worst, abs(after[plane][index] - exact[plane])) }
            }
            // Near black a gamma of 2.2 makes 64 of 65,535 from rounded numbers of 10⁻⁷.
            #expect(worst <= (depth == 16 ? 64 : 1), "\(target), \(curve), \(color.transfer): \(worst)")
        }
    }

    @Test(
        "every display's colours of 8 bits are within one code value: greys, the gamut's corners and edges, and colours at random",
        arguments: ["pq 10", "pq 203", "pq 4000", "pq 10000", "hlg 10", "hlg 203", "hlg 1000", "hlg 10000"])
    func lanes(row: String) {
        let words = row.split(separator: " ")
        var dice = Dice(seed: 47)
        let mapping = Self.mapping(words[0] == "pq" ? Self.pq : Self.hlg, ToneMapping(targetPeak: Double(words[1])!)), lanes = ToneMapLanes(mapping)
        var colors: [SIMD3<UInt16>] = stride(from: 0, through: 4095, by: 13).map { SIMD3(repeating: UInt16($0)) }
        let levels: [UInt16] = [0, 1, 2, 64, 1024, 2048, 4094, 4095]
        for red in levels { for green in levels { for blue in levels { colors.append(SIMD3(red, green, blue)) } } }
        for _ in 0..<1000 { colors.append(SIMD3((0..<3).map { _ in .random(in: 0...4095, using: &dice) })) }
        let planes = (0..<3).map { plane in colors.map { $0[plane] } }
        var results = [SIMD3<UInt32>](repeating: .zero, count: colors.count)
        // Not from the first on, so that places and counts differ.
        unsafe planes[0].withUnsafeBufferPointer { red in
            unsafe planes[1].withUnsafeBufferPointer { green in
                unsafe planes[2].withUnsafeBufferPointer { blue in
                    for range in [0..<5, 5..<colors.count] {
                        unsafe lanes.map(red.baseAddress!, green.baseAddress!, blue.baseAddress!, range) { results[$0] = SIMD3($1, $2, $3) }
                    }
                }
            }
        }
        var worst = 0.0
        for (color, result) in zip(colors, results) {
            let exact = mapping.mapped(code: SIMD3(Double(color.x), Double(color.y), Double(color.z)) / 4095) * 255
            for index in 0..<3 { worst = max(worst, abs(Double(result[index]) - exact[index])) }
        }
        #expect(worst < 0.75)
    }

    @Test("YUV by every engine is the same picture, on one thread and on several, and at another size")
    func films() throws {
        var dice = Dice(seed: 43)
        for color in [Self.pq, Self.hlg] {
            let original = try ExactFrame(.yuv420p10le, PixelSize(width: 96, height: 80), color, isSmooth: true, &dice).frame()
            let target = ConversionTarget(format: .bgr0, toneMapping: ToneMapping())
            let one = try PixelTransferSession(to: target, engine: .exact, threads: 1).convert(original)
            let fast = try PixelTransferSession(to: target, engine: .fast, threads: 3).convert(original)
            #expect(ExactFrame.codes(of: one) == ExactFrame.codes(of: fast))
            var half = target
            half.size = PixelSize(width: 48, height: 40)
            let small = try PixelTransferSession(to: half, threads: 2).convert(original)
            #expect(small.visible.size == half.size)
        }
    }

    @Test("standard dynamic range is not touched, and what is not RGB of full range is refused")
    func limits() throws {
        var dice = Dice(seed: 44)
        let plain = try ExactFrame(.yuv420p, PixelSize(width: 32, height: 16), .bt709, isSmooth: true, &dice).frame()
        let mapped = try PixelTransferSession(to: ConversionTarget(format: .bgra, toneMapping: ToneMapping()), threads: 1).convert(plain)
        let direct = try PixelTransferSession(to: ConversionTarget(format: .bgra), threads: 1).convert(plain)
        #expect(ExactFrame.codes(of: mapped) == ExactFrame.codes(of: direct))
        #expect(mapped.attributes.color.transfer == 1)
        let film = try ExactFrame(.yuv420p10le, PixelSize(width: 32, height: 16), Self.pq, isSmooth: true, &dice).frame()
        for target in [
            ConversionTarget(format: .yuv420p, toneMapping: ToneMapping()),
            ConversionTarget(format: .bgra, range: .limited, toneMapping: ToneMapping()),
        ] {
            let session = PixelTransferSession(to: target, threads: 1)
            #expect(throws: PixelConversionError.self) { _ = try session.convert(film).sequence }
        }
    }
}
