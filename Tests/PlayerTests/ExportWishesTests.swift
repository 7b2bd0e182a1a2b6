import Decoding
import FrameExport
import Media
import PixelConversion
import SurfacePool
import Testing

@testable import Player

/// Several exporters of a film, each with wishes of its own.
@Suite struct ExportWishesTests {
    private static let tiled = FormatModifier(rawValue: 0x100_0000_0000_0001)
    private static let small = PixelSize(width: 320, height: 180), large = PixelSize(width: 640, height: 360)
    private static let first = DeviceNumber(rawValue: 0xe280), second = DeviceNumber(rawValue: 0xe281)

    private static func wishes(
        formats: Set<PixelFormat> = [], modifiers: Set<FormatModifier> = [], size: PixelSize? = nil, rows: Int = 1, device: DeviceNumber? = nil
    ) -> FrameWishes {
        var wishes = FrameWishes()
        (wishes.formats, wishes.modifiers, wishes.size, wishes.rowAlignment, wishes.device) = (formats, modifiers, size, rows, device)
        return wishes
    }

    private static func merged(_ all: FrameWishes..., own: OutputRequirements = OutputRequirements()) -> ExportWishes {
        ExportWishes(DecoderOptions(requirements: own), all.enumerated().map { (number: $0.offset + 1, wishes: $0.element) })
    }

    @Test func `no wish asks for nothing`() {
        let none = Self.merged(FrameWishes(), FrameWishes())
        #expect(none.requirements.isEmpty && none.rowAlignment == 64 && none.unmet == [])
    }

    @Test func `what all take is asked for, and the largest distance of rows`() {
        let made = Self.merged(
            Self.wishes(formats: [.nv12, .bgra], modifiers: [.linear, Self.tiled], rows: 256),
            Self.wishes(formats: [.bgra, .gray], modifiers: [.linear], size: Self.small, rows: 1024), Self.wishes(size: Self.small))
        #expect(made.requirements == OutputRequirements(formats: [.bgra], modifiers: [.linear], sizes: [Self.small]))
        #expect(made.rowAlignment == 1024 && made.unmet == [])
    }

    @Test func `where two have nothing in common, the first gets its wish and the other a sentence`() {
        let made = Self.merged(
            Self.wishes(formats: [.nv12], modifiers: [Self.tiled], size: Self.small),
            Self.wishes(formats: [.bgra, .rgba], modifiers: [.linear], size: Self.large))
        #expect(made.requirements == OutputRequirements(formats: [.nv12], modifiers: [Self.tiled], sizes: [Self.small]))
        #expect(
            made.unmet == [
                "Exporter 2 does not get bgra or rgba, since another one takes something else.",
                "Exporter 2 does not get the modifier linear, since another one takes something else.",
                "Exporter 2 does not get 640x360, since another one takes something else.",
            ])
    }

    @Test func `the program's own requirements come first`() {
        let made = Self.merged(Self.wishes(formats: [.bgra]), own: OutputRequirements(formats: [.nv12], usages: [.cpu]))
        #expect(made.requirements == OutputRequirements(formats: [.nv12], usages: [.cpu]) && made.unmet.count == 1)
    }

    @Test func `two devices get linear frames`() {
        let one = Self.merged(Self.wishes(device: Self.first), Self.wishes(device: Self.first))
        #expect(one.requirements.device == Self.first && one.requirements.modifiers == [])
        let two = Self.merged(Self.wishes(device: Self.first), Self.wishes(device: Self.second))
        #expect(two.requirements.device == Self.first && two.requirements.modifiers == [.linear])
    }
}
