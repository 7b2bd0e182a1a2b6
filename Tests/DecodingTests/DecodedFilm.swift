import Decoding
import Demuxing
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// What comes out of a film when its first video track is decoded from the beginning to the end.
struct DecodedFilm {
    struct Frame: Hashable {
        var time: MediaTime
        /// Of the frame as it is.
        var md5: String
        /// Of the same frame as NV12; empty unless asked for.
        var nv12MD5 = ""
        var nv12CRC = ""
        var adler32 = ""
    }

    /// Checksums besides MD5 that are wanted.
    struct Extras: OptionSet {
        let rawValue: Int
        static let nv12 = Extras(rawValue: 1)
        static let adler32 = Extras(rawValue: 2)
        static let whole = Extras(rawValue: 4)
        /// Keeps every frame's bytes, of small films only.
        static let bytes = Extras(rawValue: 8)
    }

    var frames: [Frame] = []
    var wholeMD5 = ""
    var wholeSHA1 = ""
    var bytes: [UInt8] = []
    var dropped: [DropReason: Int] = [:]
    var errors: [DecodingError] = []
    var samples = 0
    var pool = SurfacePoolStatistics()
    var bytesWritten = 0
    var bytesCopied = 0
    var decoderName = ""

    struct NoVideo: Error {}

    init(path: String, options: DecoderOptions = DecoderOptions(threads: 2), extras: Extras = []) throws {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { if case .video = $0.format { true } else { false } }),
            case .video(let format) = track.format
        else { throw NoVideo() }
        reader.select([track.id])
        let counters = FrameStatistics()
        let session = try DecompressionSession(format: format, options: options, statistics: counters)
        decoderName = session.decoderName
        let whole = RunningChecksum()
        var film = self
        func receive(_ output: consuming DecodeOutput) {
            switch consume output {
            case .frame(let frame):
                let pixels = FrameBytes(frame)
                var line = Frame(time: frame.presentationTime, md5: pixels.md5)
                if extras.contains(.nv12), let nv12 = pixels.nv12 {
                    line.nv12MD5 = Checksum.md5(nv12)
                    line.nv12CRC = Checksum.crc32(nv12)
                }
                if extras.contains(.adler32) { line.adler32 = Checksum.adler32(pixels.bytes) }
                if extras.contains(.whole) { whole.update(pixels.bytes) }
                if extras.contains(.bytes) { film.bytes += pixels.bytes }
                film.frames.append(line)
            case .dropped(_, let reason): film.dropped[reason, default: 0] += 1
            case .failed(_, let error): film.errors.append(error)
            }
        }
        while let sample = try reader.nextSample() {
            film.samples += 1
            try session.decode(sample) { receive($0) }
        }
        session.finishDelayedFrames { receive($0) }
        self = film
        (wholeMD5, wholeSHA1) = whole.finish()
        pool = session.poolStatistics
        bytesWritten = counters.bytesWritten
        bytesCopied = counters.bytesCopied
    }
}
