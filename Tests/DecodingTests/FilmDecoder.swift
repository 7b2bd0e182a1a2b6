import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// Decodes samples to the hashes and times that FFmpeg's framemd5 would print of them.
struct FilmDecoder {
    struct Picture: Hashable {
        /// In units of the track's time base; nil when nobody knows.
        var timestamp: Int64?
        var hash: String
    }

    private(set) var pictures: [Picture] = []
    private var session: DecompressionSession?
    private var format: VideoFormat?

    /// Every decodable picture of the first film track of `path`.
    static func pictures(of path: String) throws -> [Picture] {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .video }) else { return [] }
        reader.select([track.id])
        var decoder = FilmDecoder()
        while let sample = try? reader.nextSample() { try decoder.decode(sample) }
        decoder.finish()
        return decoder.pictures
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
        pictures.append(Picture(timestamp: frame.sourceTimestamp, hash: PictureBytes(frame).md5))
    }
}
