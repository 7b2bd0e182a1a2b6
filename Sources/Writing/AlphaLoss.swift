internal import Demuxing
internal import Media

/// The tracks whose alpha does not come along into a file.
struct AlphaLoss {
    /// Says so; nil where no alpha is lost.
    let notice: String?

    /// - Parameters:
    ///   - copied: Tracks whose samples go into the file as they are.
    ///   - encoded: Tracks that are encoded anew. Encoders take no alpha.
    init(copied: [AssetTrack], encoded: [AssetTrack] = [], in container: FileContainer, path: String) {
        // Only these have a place beside the samples.
        let lost = encoded + ([.matroska, .webm].contains(container) ? [] : copied)
        let names = lost.filter { if case .video(let format) = $0.format { format.hasAlpha } else { false } }.map { "\($0.id)" }
        notice = names.isEmpty ? nil : "\(path): the film's alpha is left out: track \(names.joined(separator: ", "))."
    }
}
