import Decoding
import Reading

extension ReadingOptions {
    /// The same bits on every machine.
    static var software: ReadingOptions {
        ReadingOptions(decoder: DecoderOptions(holdCount: 8, specification: DecoderSpecification(hardware: .disable)))
    }
}

extension VideoTrackOutput {
    /// What is still to be read.
    func remaining() throws -> [FullDecode.Frame] {
        var frames: [FullDecode.Frame] = []
        while let frame = try nextFrame() { frames.append(FullDecode.Frame(frame)) }
        return frames
    }
}
