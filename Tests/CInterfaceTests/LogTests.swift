import CScanout
import Media
import TestSupport
import Testing

/// The log: what comes, up to which level, and when it ends. One test, because the handler belongs to the process.
@Suite struct LogTests {
    private final class Lines: Sendable {
        let lines = Monitor<[(level: UInt32, text: String)]>([])

        /// What is said of a film; other tests of the process may open others.
        func about(_ film: String) -> [(level: UInt32, text: String)] { lines.withLock { $0 }.filter { $0.text.contains(film) } }
    }

    private static func setHandler(_ lines: Lines?, _ level: scanout_log_level) -> scanout_result {
        guard let lines else { return scanout_set_log_handler(level.rawValue, nil, nil) }
        return unsafe scanout_set_log_handler(
            level.rawValue,
            { context, level, text in
                let line = unsafe (level: level, text: String(cString: text!))
                unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue().lines.change { $0.append(line) }
            }, Unmanaged.passUnretained(lines).toOpaque())
    }

    @Test func `a handler gets what players find up to its level, until it is replaced`() throws {
        let everything = Lines(), errors = Lines(), path = TestAssets.path("plain.mp4")
        defer {
            // The handler holds neither.
            _ = Self.setHandler(nil, SCANOUT_LOG_ERROR)
            withExtendedLifetime((everything, errors)) {}
        }
        #expect(Self.setHandler(everything, SCANOUT_LOG_DEBUG) == SCANOUT_OK)
        let film = try Film(path)
        while film.next() != nil {}
        let end: String? = everything.lines.wait(until: MonotonicClock.shared.now() + .seconds(60)) { lines in
            lines.last { $0.text.hasPrefix(path) && $0.text.hasSuffix("has been played to its end") }?.text
        }
        #expect(end != nil)
        let said = everything.about(path)
        #expect(said.contains { $0.level == SCANOUT_LOG_INFO.rawValue && $0.text.contains("h264") }, "\(said)")
        #expect(said.contains { $0.level == SCANOUT_LOG_DEBUG.rawValue && $0.text.hasSuffix("is now playing") }, "\(said)")

        #expect(Self.setHandler(errors, SCANOUT_LOG_ERROR) == SCANOUT_OK)
        let before = everything.lines.withLock { $0.count }
        #expect(throws: Film.Refusal.self) { try Film("/nonexistent/film.mp4") }
        let refusal: UInt32? = errors.lines.wait(until: MonotonicClock.shared.now() + .seconds(60)) { lines in
            lines.first { $0.text.hasPrefix("/nonexistent/film.mp4: ") }?.level
        }
        #expect(refusal == SCANOUT_LOG_ERROR.rawValue)
        #expect(errors.lines.withLock { $0.allSatisfy { $0.level == SCANOUT_LOG_ERROR.rawValue } })
        #expect(everything.lines.withLock { $0.count } == before)

        #expect(Self.setHandler(nil, SCANOUT_LOG_ERROR) == SCANOUT_OK)
        #expect(Self.setHandler(errors, scanout_log_level(rawValue: 5)) == SCANOUT_ERROR_ARGUMENT)
        #expect(Self.setHandler(nil, SCANOUT_LOG_ERROR) == SCANOUT_OK)
    }
}
