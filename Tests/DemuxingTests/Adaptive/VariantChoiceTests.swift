import Media
import Testing

@testable import Demuxing

/// Which of a film's variants is read.
@Suite struct VariantChoiceTests {
    /// `bits:width x height:codecs`, a variant a word.
    private static func variants(_ text: String) -> [StreamVariant] {
        text.split(separator: " ").map { word in
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            let size = parts[1].split(separator: "x").compactMap { Int($0) }
            return StreamVariant(
                bitRate: Int64(parts[0]) ?? 0, size: size.count == 2 ? PixelSize(width: size[0], height: size[1]) : nil,
                codecs: parts[2].split(separator: ",").map(String.init))
        }
    }

    private static let ladder = "900:640x360:avc1,mp4a 300:320x180:avc1,mp4a 5000:1920x1080:avc1,mp4a 2500:1280x720:avc1,mp4a"

    @Test(arguments: [
        // preference, throughput, shown size, expected
        ("max", 0, "", 2), ("min", 9999, "", 1), ("2500", 0, "", 3), ("2499", 0, "", 0), ("1", 9999, "", 1),
        ("auto", 99999, "", 2), ("auto", 6250, "", 2), ("auto", 6240, "", 3), ("auto", 1200, "", 0), ("auto", 0, "", 1),
        ("auto", 99999, "1280x720", 3), ("auto", 99999, "1281x721", 2), ("auto", 99999, "3840x2160", 2), ("auto", 99999, "160x90", 1),
        ("auto", 99999, "500x2000", 0), ("max", 0, "160x90", 2),
    ])
    func `of a ladder`(preference: String, throughput: Int64, size: String, expected: Int) {
        let preferences: [String: VariantPreference] = ["max": .highest, "min": .lowest, "auto": .automatic]
        let numbers = size.split(separator: "x").compactMap { Int($0) }
        let choice = VariantChoice(
            preference: preferences[preference] ?? .atMost(Int64(preference) ?? 0),
            size: numbers.count == 2 ? PixelSize(width: numbers[0], height: numbers[1]) : nil)
        #expect(choice.variant(of: Self.variants(Self.ladder), throughput: throughput) { _ in true } == expected)
    }

    @Test(arguments: [
        // What has no decoder, and sound alone, come last.
        ("100:64x64:avc1 200:64x64:vvc9", 0), ("100:64x64:vvc9 200:64x64:vvc9", 1), ("100::avc1 900::mp4a.40.2 500:64x64:avc1", 2),
        ("100::mp4a 200::mp4a", 1), ("100:: 200::", 1), ("7:64x64:", 0),
    ])
    func `frames that can be decoded come first`(text: String, expected: Int) {
        let choice = VariantChoice(preference: .highest)
        #expect(choice.variant(of: Self.variants(text), throughput: 0) { $0 != "vvc9" } == expected)
    }

    @Test(arguments: [("max", [2, 3, 0, 1]), ("min", [1, 0, 3, 2]), ("2500", [3, 0, 1, 2])])
    func `what cannot be had gives way to the next one below`(preference: String, expected: [Int]) {
        let preferences: [String: VariantPreference] = ["max": .highest, "min": .lowest]
        let choice = VariantChoice(preference: preferences[preference] ?? .atMost(Int64(preference) ?? 0))
        #expect(choice.order(of: Self.variants(Self.ladder), throughput: 0) { _ in true } == expected)
    }

    @Test func `a network is measured only where that decides`() {
        let automatic = VariantChoice(preference: .automatic)
        #expect(automatic.dependsOnThroughput(Self.variants(Self.ladder)))
        #expect(!VariantChoice(preference: .highest).dependsOnThroughput(Self.variants(Self.ladder)))
        #expect(!automatic.dependsOnThroughput(Self.variants("100:64x64:avc1")))
        #expect(!VariantChoice(preference: .automatic, size: PixelSize(width: 32, height: 32)).dependsOnThroughput(Self.variants(Self.ladder)))
    }

    @Test(arguments: [("avc1.640028", true), ("hvc1.2.4.L123", true), ("mp4a.40.2", true), ("dvh1.05.06", false), ("zzzz.1", true)])
    func `codecs are known by their names`(name: String, isDecodable: Bool) { #expect(VariantChoice.isDecodable(name) == isDecodable) }
}
