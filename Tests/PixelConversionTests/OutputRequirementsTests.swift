import Media
import PixelConversion
import SurfacePool
import Testing

@Suite("OutputRequirements")
struct OutputRequirementsTests {
    private typealias Offer = OutputRequirements.Offer

    private static let size = PixelSize(width: 64, height: 48)
    private static let native = Offer(format: .yuv420p, modifier: .linear, size: size, memory: .memfd, isDMABuf: false)

    @Test("met requirements need no conversion")
    func met() {
        let fitting: [OutputRequirements] = [
            OutputRequirements(), OutputRequirements(formats: [.bgra, .yuv420p]), OutputRequirements(modifiers: [.linear]),
            OutputRequirements(sizes: [Self.size, PixelSize(width: 1, height: 1)]), OutputRequirements(usages: [.cpu, .display]),
        ]
        for requirements in fitting { #expect(requirements.reason(against: Self.native) == nil, "\(requirements)") }
        #expect(fitting[0].isEmpty && !fitting[1].isEmpty)
    }

    @Test("an unmet requirement gives the reason and the best conversion")
    func unmet() {
        var hardware = Self.native
        hardware.memory = .va
        hardware.format = .nv12
        hardware.modifier = FormatModifier(rawValue: 0x100_0000_0000_0002)
        hardware.isDMABuf = true
        let rows: [(OutputRequirements, Offer, reason: String, target: ConversionTarget?)] = [
            (
                OutputRequirements(formats: [.bgra, .gray]), Self.native, "the decoder makes yuv420p, the consumer needs bgra or gray",
                ConversionTarget(format: .bgra)
            ),
            (
                OutputRequirements(formats: [.nv12, .gray, .rgb24]), Self.native, "the consumer needs gray or nv12 or rgb24",
                ConversionTarget(format: .nv12)
            ),
            (
                OutputRequirements(sizes: [PixelSize(width: 32, height: 24), PixelSize(width: 60, height: 50)]), Self.native,
                "its size is 64x48, the consumer needs 32x24 or 60x50", ConversionTarget(format: .yuv420p, size: PixelSize(width: 60, height: 50))
            ),
            (
                OutputRequirements(modifiers: [.linear]), hardware, "its modifier is 0x100000000000002, the consumer needs linear",
                ConversionTarget(format: .nv12)
            ),
            (OutputRequirements(usages: [.cpu]), hardware, "the CPU cannot read the hardware's memory in place", ConversionTarget(format: .nv12)),
            (OutputRequirements(modifiers: [hardware.modifier]), Self.native, "its modifier is linear", nil),
            (OutputRequirements(formats: [.pal8]), Self.native, "the consumer needs pal8", nil),
            (OutputRequirements(usages: [.egl]), Self.native, "a GPU cannot import memfd memory", ConversionTarget(format: .yuv420p)),
        ]
        for row in rows {
            let reason = row.0.reason(against: row.1) ?? ""
            #expect(reason.contains(row.reason), "\(reason)")
            #expect(row.0.target(for: row.1) == row.target, "\(row.0)")
        }
        var deep = Self.native
        deep.format = .gbrp10le
        let display = OutputRequirements(usages: [.display])
        #expect(display.reason(against: deep) == "no display or GPU has a code for gbrp10le")
        let target = display.target(for: deep)
        #expect(target?.format.fourCC != nil)
    }
}
