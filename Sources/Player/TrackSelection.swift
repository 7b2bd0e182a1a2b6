internal import Demuxing
internal import Media
internal import SampleQueue

/// Chooses a file's video and audio track: of each kind the first one that is marked as default, else the first one that can be decoded. A cover
/// image is shown only when there is no video.
struct TrackSelection: Sendable {
    var video: AssetTrack?
    var audio: AssetTrack?

    /// Why the sound is not played; nil when it is, or there is none.
    private(set) var objection: String?

    /// - Parameter isConfined: Part of the film's code runs in processes without rights: then the program decodes familiar sound only.
    init(tracks: [AssetTrack], playsAudio: Bool, isConfined: Bool = false) {
        func objection(_ track: AssetTrack) -> String? {
            guard isConfined, case .audio(let format) = track.format else { return nil }
            return format.objection
        }
        func best(_ kind: AssetTrack.Kind) -> AssetTrack? {
            let candidates = tracks.filter { $0.kind == kind && $0.isDecodable && objection($0) == nil }
            return candidates.first { $0.isDefault } ?? candidates.first
        }
        video = best(.video) ?? best(.attachedPicture)
        audio = playsAudio ? best(.audio) : nil
        if playsAudio, audio == nil { self.objection = tracks.lazy.compactMap(objection).first }
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
