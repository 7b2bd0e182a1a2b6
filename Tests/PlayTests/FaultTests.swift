internal import CEnding
import Foundation
import TestSupport
import Testing

/// What the program's last signal handlers take for a shortage, and what stays a fault.
@Suite(.serialized, .neverSanitized) struct FaultTests {
    /// The process may have been started by a thread that blocks signals.
    private static func begin() {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        unsafe ending_on_shortage("memory\n", "descriptors\n", 71)
    }

    /// Asks the kernel: the compiler may leave out an allocation that nothing uses.
    private static func hasNoMemory() -> Bool {
        unsafe mmap(nil, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
    }

    @Test func `a fault after an old shortage stays a fault`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            Self.begin()
            errno = ENOMEM
            raise(SIGSEGV)
        }
        await #expect(processExitsWith: .signal(SIGABRT)) {
            Self.begin()
            errno = ENOMEM
            abort()
        }
        await #expect(processExitsWith: .signal(SIGILL)) {
            Self.begin()
            errno = EMFILE
            raise(SIGILL)
        }
    }

    @Test func `an abort for want of memory or descriptors is one sentence`() async throws {
        let memory = try await #require(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            Self.begin()
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            if Self.hasNoMemory() { abort() }
        }
        #expect(String(decoding: memory.standardErrorContent, as: UTF8.self).hasSuffix("memory\n"))
        let fault = try await #require(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            Self.begin()
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            if Self.hasNoMemory() { raise(SIGSEGV) }
        }
        #expect(String(decoding: fault.standardErrorContent, as: UTF8.self).hasSuffix("memory\n"))
        let descriptors = try await #require(processExitsWith: .exitCode(71), observing: [\.standardErrorContent]) {
            Self.begin()
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            if dup(0) < 0 { abort() }
        }
        #expect(String(decoding: descriptors.standardErrorContent, as: UTF8.self).hasSuffix("descriptors\n"))
    }
}
