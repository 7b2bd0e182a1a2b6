import Foundation
import Glibc

/// Words for the process of an exit test, whose closure can capture nothing with Swift 6.2. They go in the environment, so one test at a time.
public enum ExitTestWords {
    private static let name = "EXIT_TEST_WORDS"

    /// Gives the exit tests that follow these words, none of which has a line feed.
    public static func give(_ words: String...) { unsafe setenv(name, words.joined(separator: "\n"), 1) }

    /// What the process was given that began this one.
    public static var given: [String] {
        ProcessInfo.processInfo.environment[name]?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}
