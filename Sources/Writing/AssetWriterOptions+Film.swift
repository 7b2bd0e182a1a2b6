internal import Demuxing
internal import Media

extension AssetWriterOptions {
    /// The same, with a film's own texts where there is none of this name, and with its chapters where there are none.
    ///
    /// - Parameters:
    ///   - metadata: By FFmpeg's names. Those of the file that it was in are left out.
    ///   - chapters: In film time.
    ///   - range: The part of the film that is written: chapters that lie in it go along, cut at its end.
    func describing(_ metadata: [String: String], title: String?, _ chapters: [AssetChapter], in range: MediaTimeRange) -> AssetWriterOptions {
        var options = self
        options.metadata.merge(metadata.filter { !FilmTexts.ofFile.contains($0.key.lowercased()) }) { own, _ in own }
        if options.metadata["title"] == nil, let title { options.metadata["title"] = title }
        guard options.chapters.isEmpty else { return options }
        options.chapters = chapters.compactMap { chapter in
            let part = chapter.range.intersection(range)
            return part.duration > .zero ? AssetChapter(range: part, title: chapter.title) : nil
        }
        return options
    }
}

extension AssetTrack {
    /// Whether it is the track in which QuickTime keeps the titles of chapters, which are written by other means.
    func holdsChapters(of film: any AssetReading) -> Bool {
        guard case .other("bin_data") = format else { return false }
        return kind == .other && !film.chapters.isEmpty
    }
}
