internal import Glibc
public import Testing

/// How much of a long test a run does: all of it under `scripts/test --full`, less in a usual run, still less under a sanitizer, which finds in
/// the hundredth round what it finds in the tenth. Under a sanitizer `--full` does what a usual run does without one: there the long forms would take
/// days.
public enum TestExtent {
    /// `scripts/test --full`, by the variable PLAYER_TEST_FULL.
    static let isWhole = unsafe getenv("PLAYER_TEST_FULL") != nil

    /// This test program was built with ThreadSanitizer or AddressSanitizer.
    public static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// Tests have their long forms.
    public static let isFull = isWhole && !isSanitized

    /// The number of rounds of a test.
    /// - Parameters:
    ///   - usual: In a usual run.
    ///   - full: In the long form.
    ///   - sanitized: Under a sanitizer in a usual run; `usual` where nothing else is said.
    public static func rounds(_ usual: Int, full: Int, sanitized: Int? = nil) -> Int {
        isFull ? full : isSanitized && !isWhole ? sanitized ?? usual : usual
    }

    /// The arguments of a test: all of them, and under a sanitizer in a usual run the first of every `step`. A sanitizer looks at code that all of
    /// them run through.
    public static func cases<Case>(_ all: [Case], sanitizedStep step: Int) -> [Case] {
        stride(from: 0, to: all.count, by: rounds(1, full: 1, sanitized: step)).map { all[$0] }
    }
}

/// Measures again, up to `attempts` times, until a measurement finds nothing wrong: on a busy machine a thread may come later than what is
/// measured allows. A fault of the program shows every time.
/// - Parameter measure: Returns what is wrong, a sentence each.
/// - Returns: What the last measurement found.
public func withinAttempts(_ attempts: Int = 4, _ measure: () throws -> [String]) rethrows -> [String] {
    var wrong: [String] = []
    for _ in 0..<attempts {
        wrong = try measure()
        if wrong.isEmpty { break }
    }
    return wrong
}

extension Trait where Self == ConditionTrait {
    /// The test compares times that the film has with times on the clock, to milliseconds: a sanitizer makes everything late.
    public static var measuresTime: Self { .enabled(if: !TestExtent.isSanitized, "what measures time runs without a sanitizer") }

    /// The test takes away what a sanitizer needs itself (memory, addresses, descriptors, threads), looks at signals that a sanitizer handles, or at
    /// the memory of a process, of which AddressSanitizer keeps 256 MB that were freed.
    public static var neverSanitized: Self {
        .enabled(if: !TestExtent.isSanitized, "a sanitizer needs what the test takes away or counts")
    }

    /// A sanitizer has nothing to find in the test that it does not find in others; `scripts/test --full` runs it all the same.
    public static var unsanitized: Self {
        .enabled(if: !TestExtent.isSanitized || TestExtent.isWhole, "a sanitizer finds nothing in it that others do not show it")
    }
}

extension MediaCatalog {
    /// A usual run under a sanitizer goes over one film of so many.
    public static let sweepStep = TestExtent.rounds(1, full: 1, sanitized: 8)

    /// The films of a codec that are not damaged, for a test that others go over all films beside: every fourth, with `--full` each.
    public func usual(codec: String) -> [Film] {
        let all = films.filter { $0.codec == codec && $0.group != "malformed" }
        return stride(from: 0, to: all.count, by: TestExtent.rounds(4, full: 1)).map { all[$0] }
    }

    /// The films for a test that goes over all of them: under a sanitizer each group's first and every eighth after it.
    public var sweep: [Film] {
        var seen: [String: Int] = [:]
        return films.filter { film in
            defer { seen[film.group, default: 0] += 1 }
            return seen[film.group, default: 0] % Self.sweepStep == 0
        }
    }
}
