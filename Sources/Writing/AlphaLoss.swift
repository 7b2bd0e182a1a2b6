internal import Demuxing
internal import Media

/// The tracks whose alpha does not come along into a file.
struct AlphaLoss {
    /// Says so; nil where no alpha is lost.
    let notice: String?

    /// - Parameters:
    ///   - copied: Tracks whose samples go into the file as they are.
    ///   - encoded: Tracks that are encoded anew, into something without alpha although their frames have some.
    init(copied: [AssetTrack], encoded: [AssetTrack] = [], in container: FileContainer, path: String) {
        let lost = copied.filter { if case .video(let format) = $0.format { format.hasAlpha && !container.holdsAlphaBesideSamples } else { false } }
        let names = (encoded + lost).map(\.id).sorted().map(String.init)
        notice = names.isEmpty ? nil : "\(path): the film's alpha is left out: track \(names.joined(separator: ", "))."
    }
}

extension FileContainer {
    /// The alpha of VP8 and VP9 lies beside the samples, where only these have a place.
    var holdsAlphaBesideSamples: Bool { isMatroska }
}
