package import Sandbox

/// How the processes of one sound decoder are started.
package struct SoundProcessLaunch: Sendable {
    let program: String
    /// The first of them, which may have been started ahead of need.
    let first: SandboxedProcess

    /// Takes the process that was prepared, or starts one.
    package init(_ sandbox: SandboxOptions) throws(SandboxError) {
        program = try SandboxProgram.decoder.find(sandbox.decoderPath)
        if let spare = SpareProcesses.shared.take(Self.key(program)) { first = spare } else { first = try SandboxedProcess.start(program) }
    }

    /// Begins with a process that runs already.
    package init(program: String, first: SandboxedProcess) {
        self.program = program
        self.first = first
    }

    /// Another process, after the death of the one before.
    func again() throws(SandboxError) -> SandboxedProcess { try SandboxedProcess.start(program) }

    /// Starts a process ahead of need, so that it is ready when a format is known; the next decoder takes it. Returns at once.
    package static func prepare(_ sandbox: SandboxOptions) {
        guard sandbox.policy != .off, let program = try? SandboxProgram.decoder.find(sandbox.decoderPath) else { return }
        SpareProcesses.shared.prepare(key(program)) { try SandboxedProcess.start(program) }
    }

    /// Ends the process that was started ahead of need: there is no sound for it.
    package static func discard(_ sandbox: SandboxOptions) {
        guard sandbox.policy != .off, let program = try? SandboxProgram.decoder.find(sandbox.decoderPath) else { return }
        SpareProcesses.shared.take(key(program))?.end()
    }

    private static func key(_ program: String) -> SpareProcesses.Key { SpareProcesses.Key(program: program, isForSound: true) }
}
