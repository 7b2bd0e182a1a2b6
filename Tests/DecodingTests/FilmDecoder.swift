import Decoding
import Demuxing
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// Decodes samples to the hashes and times that FFmpeg's framemd5 would print of them.
struct FilmDecoder {
    struct Frame: Hashable {
        /// In units of the track's time base; nil when nobody knows.
        var timestamp: Int64?
        var hash: String
    }

    private(set) var frames: [Frame] = []
    /// What the first frame says of itself.
    private(set) var attributes: FrameAttributes?
    private var session: DecompressionSession?
    private var format: VideoFormat?

    /// Every decodable frame of the first film track of `path`.
    static func frames(of path: String) throws -> [Frame] { try decoded(path).frames }

    /// … with all that is known of them.
    static func decoded(_ path: String) throws -> FilmDecoder {
        let reader = try AssetReader(url: path)
        var decoder = FilmDecoder()
        guard let track = reader.tracks.first(where: { $0.kind == .video }) else { return decoder }
        reader.select([track.id])
        while let sample = try? reader.nextSample() { try decoder.decode(sample) }
        decoder.finish()
        return decoder
    }

    mutating func decode(_ sample: SampleBuffer) throws {
        guard case .compressed(_, .video(let format)) = sample.content else { return }
        if let session, !session.canAccept(format) {
            finish()
            self.session = nil
        }
        let session = try self.session ?? DecompressionSession(format: format, options: DecoderOptions(threads: 1, holdCount: 1))
        self.session = session
        try session.decode(sample) { receive($0) }
    }

    mutating func finish() { session?.finishDelayedFrames { receive($0) } }

    private mutating func receive(_ output: consuming DecodeOutput) {
        guard case .frame(let frame) = consume output else { return }
        if attributes == nil { attributes = frame.attributes }
        frames.append(Frame(timestamp: frame.sourceTimestamp, hash: FrameBytes(frame).md5))
    }
}
