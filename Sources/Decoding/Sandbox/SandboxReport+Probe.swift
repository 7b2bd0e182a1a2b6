internal import Media
public import Sandbox
internal import SurfacePool

extension SandboxReport {
    /// What a decoder process gives up on this machine: starts one, takes its report, and ends it.
    ///
    /// - Parameters:
    ///   - path: The decoder program; nil looks in the usual places (`SandboxOptions.decoderPath`).
    ///   - device: The render node that it is to drive; nil for a process without one.
    /// - Throws: `.sandbox` when there is no such program, or it does not answer; `.outOfResources` as `SandboxError`; `.noHardware` when the
    ///   node cannot be opened.
    public static func probe(path: String? = nil, device: String? = nil) throws(DecodingError) -> SandboxReport {
        let program: String
        do throws(SandboxError) { program = try SandboxProgram.decoder.find(path) } catch { throw DecodingError(error) }
        let process = try DecoderProcess.start(program, device: device)
        defer { process.end() }
        let nothing = LentSurfaces(allocator: MemfdAllocator(), maximumCount: 1, maximumByteCount: 0)
        do throws(ProcessEnd) {
            let listener = DecoderListener(process: process, surfaces: nothing, deadline: SandboxedProcess.startDeadline)
            if case .confined(let report) = try listener.next() { return report }
            throw .unasked
        } catch {
            throw DecodingError(.sandbox, "the decoder process \(error.sentence)")
        }
    }
}
