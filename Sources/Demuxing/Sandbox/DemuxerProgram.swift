internal import Decoding
internal import Glibc

/// Where the demuxer program lies: beside the decoder's.
public enum DemuxerProgram {
    public static let name = "player-demuxer"

    /// The program beside the decoder program that `sandbox` means.
    static func find(_ sandbox: SandboxOptions) throws(DecodingError) -> String {
        let decoder = try DecoderProgram.find(sandbox.decoderPath)
        let folder = decoder.lastIndex(of: "/").map { decoder[...$0] } ?? ""
        let program = String(folder) + name
        guard DecoderProgram.isProgram(program) else { throw DecodingError(.sandbox, "the demuxer program \(name) does not lie beside \(decoder)") }
        return program
    }
}
