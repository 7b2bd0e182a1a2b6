import Decoding
import Foundation
import Media
import Sandbox
import TestSupport
import Testing

/// What never becomes a reason to decode outside of the sandbox.
@Suite(.serialized) struct ShortageTests {
    @Test func `a shortage of descriptors is told from a sandbox that does not exist`() async {
        await #expect(processExitsWith: .success) {
            let film = try SandboxedSessionTests.film(TestAssets.path("annexb.h264"))
            let options = SandboxedSessionTests.options()
            let outcomes = Shortage.outcomes { () throws(DecodingError) in
                try SandboxedSession(format: film.format, options: DecoderOptions(threads: 1), sandbox: options).invalidate()
            } isShortage: {
                $0.code == .outOfResources
            }
            try #require(outcomes.shortages > 5 && outcomes.successes > 0 && outcomes.others.isEmpty, "\(outcomes)")
        }
    }

    /// It has room for one descriptor besides its sockets, so that it ends at the message that opens the decoder, which has two.
    @Test func `a process that confines itself and then dies of the film is not a missing sandbox`() throws {
        let program = "/tmp/scanout-decoder-\(getpid())"
        defer { unsafe unlink(program) }
        try Data("#!/bin/sh\nulimit -n 6\nexec \(BuiltPrograms.decoder)\n".utf8).write(to: URL(fileURLWithPath: program))
        try #require(unsafe chmod(program, 0o700) == 0)
        let film = try SandboxedSessionTests.film(TestAssets.path("annexb.h264"))
        let sandbox = SandboxOptions(policy: .full, decoderPath: program, restarts: RestartLimit(count: 1))
        var errors: [DecodingError] = []
        // Another test's process may for a moment hold the script open for writing.
        repeat {
            do throws(DecodingError) { _ = try SandboxedSession(format: film.format, sandbox: sandbox) } catch { errors.append(error) }
        } while errors.last?.status == ETXTBSY
        #expect(errors.last?.code == .cannotOpen)
    }
}
