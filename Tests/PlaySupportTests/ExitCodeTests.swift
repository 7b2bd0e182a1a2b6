import PlaySupport
import Player
import Testing

@Suite struct ExitCodeTests {
    /// The shell sees the same numbers for as long as scripts depend on them.
    private static let table: [(PlayerError.Code, Int32)] = [
        (.invalidArgument, 64), (.unsupportedFormat, 65), (.damaged, 65), (.noSuchFile, 66), (.permissionDenied, 66), (.network, 66),
        (.cannotOpen, 66), (.notSeekable, 66), (.cancelled, 66), (.displayUnavailable, 69), (.decoderUnavailable, 69), (.system, 71), (.notOpen, 70),
        (.cannotCreate, 73), (.cannotWrite, 74), (.cutShort, 74),
    ]

    @Test(arguments: table) func `each failure has its exit code`(_ code: PlayerError.Code, _ number: Int32) {
        #expect(PlaySupport.ExitCode(PlayerError(code, "a sentence")).rawValue == number)
    }

    @Test func `the table names every failure`() { #expect(Set(Self.table.map(\.0)) == Set(PlayerError.Code.allCases)) }
}
