internal import Glibc

/// How much of a long test a run does: all of it under `scripts/test --full`, less in a usual run, still less under a sanitizer, which finds in
/// the hundredth round what it finds in the tenth.
public enum TestExtent {
    /// `scripts/test --full`, by the variable PLAYER_TEST_FULL.
    public static let isFull = unsafe getenv("PLAYER_TEST_FULL") != nil

    /// This test program was built with ThreadSanitizer or AddressSanitizer.
    public static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// The number of rounds of a test.
    /// - Parameters:
    ///   - usual: In a usual run.
    ///   - full: With `--full`.
    ///   - sanitized: Under a sanitizer in a usual run; `usual` where nothing else is said.
    public static func rounds(_ usual: Int, full: Int, sanitized: Int? = nil) -> Int {
        isFull ? full : isSanitized ? sanitized ?? usual : usual
    }
}

extension MediaCatalog {
    /// A usual run under a sanitizer goes over one film of so many.
    public static let sweepStep = TestExtent.rounds(1, full: 1, sanitized: 8)

    /// The films for a test that goes over all of them: under a sanitizer each group's first and every eighth after it.
    public var sweep: [Film] {
        var seen: [String: Int] = [:]
        return films.filter { film in
            defer { seen[film.group, default: 0] += 1 }
            return seen[film.group, default: 0] % Self.sweepStep == 0
        }
    }
}
