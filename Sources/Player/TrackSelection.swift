internal import Demuxing
internal import Media
internal import SampleQueue

/// Chooses a file's video and audio track: of each kind the first one that is marked as default, else the first one that can be decoded. A cover
/// image is shown only when there is no video.
struct TrackSelection: Sendable {
    var video: AssetTrack?
    var audio: AssetTrack?

    init(tracks: [AssetTrack], playsAudio: Bool) {
        func best(_ kind: AssetTrack.Kind) -> AssetTrack? {
            let candidates = tracks.filter { $0.kind == kind && $0.isDecodable }
            return candidates.first { $0.isDefault } ?? candidates.first
        }
        video = best(.video) ?? best(.attachedPicture)
        audio = playsAudio ? best(.audio) : nil
    }

    /// `video track 0 (h264), audio track 1 (aac)`.
    var summary: String {
        func name(_ track: AssetTrack) -> String {
            let codec =
                switch track.format {
                case .video(let format): format.codec.name
                case .audio(let format): format.codecName
                case .other(let name): name
                }
            return "\(track.kind.rawValue) track \(track.id) (\(codec))"
        }
        return [video, audio].compactMap { $0.map(name) }.joined(separator: ", ")
    }
}
