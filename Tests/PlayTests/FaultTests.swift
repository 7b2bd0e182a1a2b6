internal import CEnding
import Foundation
import TestSupport
import Testing

/// What the program's last signal handlers take for a shortage, and what stays a fault.
@Suite(.serialized, .unsanitized) struct FaultTests {
    @Test func `a fault after an old shortage stays a fault`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
            errno = ENOMEM
            raise(SIGSEGV)
        }
        await #expect(processExitsWith: .signal(SIGABRT)) {
            unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
            errno = ENOMEM
            abort()
        }
        await #expect(processExitsWith: .signal(SIGILL)) {
            unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
            errno = EMFILE
            raise(SIGILL)
        }
    }

    @Test func `an abort for want of memory or descriptors is one sentence`() async throws {
        let memory = try await #require(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            if unsafe malloc(256 << 20) == nil { abort() }
        }
        #expect(String(decoding: memory.standardErrorContent, as: UTF8.self).hasSuffix("memory\n"))
        let descriptors = try await #require(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            if dup(0) < 0 { abort() }
        }
        #expect(String(decoding: descriptors.standardErrorContent, as: UTF8.self).hasSuffix("descriptors\n"))
    }
}
