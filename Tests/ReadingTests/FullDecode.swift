import Decoding
import Demuxing
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// Every frame of a film, decoded from its beginning to its end without `Reading`.
enum FullDecode {
    /// Edit lists, reordering, open groups, hidden frames, times without decode times.
    static let ownFilms = ["demo.mp4", "edit-list.mp4", "hevc-10bit.mp4", "vp9.webm", "av1.mkv", "rate-23.976.mp4", "annexb.h264", "short.mp4"]
        .map { TestAssets.path($0) }

    struct Frame: Hashable {
        var time: MediaTime
        var md5: String

        init(_ frame: consuming VideoFrame) {
            time = frame.presentationTime
            md5 = FrameBytes(frame).md5
        }
    }

    /// A film is decoded once for all tests that ask.
    private static let films = Monitor<[String: [Frame]]>([:])

    static func frames(_ path: String) throws -> [Frame] {
        if let known = films.withLock({ $0[path] }) { return known }
        let reader = try AssetReader(url: path)
        let videos = reader.tracks.filter { $0.kind == .video }
        guard let track = videos.first(where: \.isDefault) ?? videos.first, case .video(let format) = track.format else { return [] }
        reader.select([track.id])
        let session = try DecompressionSession(format: format, options: DecoderOptions(specification: DecoderSpecification(hardware: .disable)))
        var frames: [Frame] = []
        func take(_ output: consuming DecodeOutput) {
            if case .frame(let frame) = consume output { frames.append(Frame(frame)) }
        }
        while let sample = try reader.nextSample() { try session.decode(sample) { take($0) } }
        session.finishDelayedFrames { take($0) }
        let result = frames
        films.withLock { $0[path] = result }
        return frames
    }

    /// The frames that are on the screen during `range`.
    static func part(_ film: [Frame], _ range: MediaTimeRange) -> [Frame] {
        if range.isEmpty { return [] }
        let first = film.lastIndex { $0.time <= range.start } ?? 0
        return film[first...].filter { $0.time < range.end }
    }
}
