import CLinux
import Glibc
import Media
import PixelConversion
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

/// Layouts with the numbers that break arithmetic, of memory that is lent and of memory that is offered: each is refused, or shown without a
/// fault.
@Suite struct LayoutMutationTests {
    /// Around the ends of integers, pages and vectors.
    private static let edges: [UInt64] = [
        0, 1, 2, 3, 15, 16, 31, 63, 64, 65, 127, 128, 255, 256, 320, 4095, 4096, 4097, 8192, 65_535, 65_536, 131_071, 131_072, 1 << 20, 1 << 30,
        1 << 31 - 4096, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 12_600_000_000, 1 << 40, 1 << 63 - 1, 1 << 63, .max,
    ]

    /// A layout's fields, in the order in which they are written.
    private struct Fields {
        var format: PixelFormat
        var numbers: [UInt64]

        init(_ layout: SurfaceLayout) {
            format = layout.format
            numbers = [UInt64(layout.size.width), UInt64(layout.size.height), UInt64(layout.byteCount)]
            for index in 0..<layout.planeCount { numbers += [UInt64(layout.plane(index).offset), UInt64(layout.plane(index).pitch)] }
        }

        mutating func mutate(_ dice: inout Dice) {
            for _ in 0..<Int.random(in: 0...3, using: &dice) {
                let index = Int.random(in: 0..<numbers.count, using: &dice)
                switch Int.random(in: 0...3, using: &dice) {
                case 0: numbers[index] = LayoutMutationTests.edges.randomElement(using: &dice)!
                case 1: numbers[index] &+= UInt64.random(in: 1...65, using: &dice)
                case 2: numbers[index] &-= UInt64.random(in: 1...65, using: &dice)
                default: numbers[index] = numbers[index] &* 2
                }
            }
            if Int.random(in: 0...9, using: &dice) == 0 { format = PixelFormat.allCases.randomElement(using: &dice)! }
            if Int.random(in: 0...9, using: &dice) == 0 { numbers.removeLast(2) }
        }

        func write(_ writer: inout WireWriter) {
            writer.put(format.rawValue)
            writer.put(UInt32(truncatingIfNeeded: numbers[0]))
            writer.put(UInt32(truncatingIfNeeded: numbers[1]))
            writer.put(numbers[2])
            writer.put(UInt8((numbers.count - 3) / 2))
            for index in stride(from: 3, to: numbers.count, by: 2) {
                writer.put(numbers[index])
                writer.put(UInt32(truncatingIfNeeded: numbers[index + 1]))
            }
        }
    }

    private static func message(_ dice: inout Dice, isOffer: Bool) -> (WireWriter, byteCount: UInt64) {
        let format = isOffer ? [PixelFormat.nv12, .p010le].randomElement(using: &dice)! : PixelFormat.allCases.randomElement(using: &dice)!
        let size = PixelSize(width: Int.random(in: 1...200, using: &dice), height: Int.random(in: 1...64, using: &dice))
        var fields = Fields(SurfaceLayout(format: format, covering: size)), writer = WireWriter()
        fields.mutate(&dice)
        writer.put(UInt8(isOffer ? 3 : 0))
        if isOffer { writer.put(UInt32(0)) }
        fields.write(&writer)
        if isOffer { writer.put(FormatModifier.linear.rawValue) }
        return (writer, fields.numbers[2])
    }

    private static let limit = 64 << 20

    /// Shows the surface as a display without its format does. False where there is none.
    private static func show(_ stage: LyingProcess, _ converter: PixelTransferSession, _ dice: inout Dice) throws -> Bool {
        guard let use = stage.process.use(ofSlot: 0, visible: PixelRect(x: 0, y: 0, width: 1, height: 1)) else { return false }
        let size = use.surface.layout.size
        use.end()
        // The whole of it, or what is left beside a corner.
        let x = Int.random(in: 0...min(1, size.width - 1), using: &dice), y = Int.random(in: 0...min(1, size.height - 1), using: &dice)
        let visible = PixelRect(x: x, y: y, width: size.width - x, height: size.height - y)
        guard let use = stage.process.use(ofSlot: 0, visible: visible) else { return false }
        guard size.width * size.height <= 1 << 20, converter.canConvert(use.surface.layout.format) else { return true }
        _ = try? converter.convert(VideoFrame(use: use, visible: visible, presentationTime: .zero, sequence: 0))
        return true
    }

    @Test(arguments: [false, true]) func `a layout with other numbers is refused, or shown without a fault`(isOffer: Bool) throws {
        var dice = Dice(seed: isOffer ? 0x0ffe_12ed : 0x3a11_0c47), shown = 0, refused = 0
        let converter = PixelTransferSession(to: ConversionTarget(format: .bgr0), engine: .fast, threads: 1)
        let rounds = TestExtent.rounds(1500, full: 50_000, sanitized: 300)
        for _ in 0..<rounds {
            let stage = try LyingProcess(maximumByteCount: Self.limit, drivesDevice: isOffer)
            let (writer, byteCount) = Self.message(&dice, isOffer: isOffer)
            var memory: OwnedFD?
            if isOffer {
                let made = OwnedFD(adopting: unsafe clinux_memfd("offered"))
                // As large as is said, where a file can be; nothing of it is there until it is written.
                _ = ftruncate(made.rawValue, Int(clamping: min(byteCount, 1 << 41)))
                _ = clinux_memfd_seal_shrink(made.rawValue)
                memory = consume made
            }
            let number: Int32? =
                switch memory {
                case .some(let made): made.rawValue
                case .none: nil
                }
            try stage.memory.send(writer, descriptors: number.map { [$0] } ?? [])
            do {
                try stage.listen()
                if try Self.show(stage, converter, &dice) { shown += 1 }
            } catch is ProcessEnd {
                refused += 1
            }
            stage.process.end()
        }
        #expect(shown > rounds / 10 && refused > rounds / 10, "\(shown) shown, \(refused) refused")
    }
}
