internal import Demuxing
internal import Media
internal import Sandbox
internal import Subtitles

/// A film with the sound of other files, as if it held that.
struct SoundFiles {
    /// The film, with the sound of the files behind its own tracks.
    private(set) var reader: any AssetReading
    /// The tracks of the first file that the program names.
    private(set) var first: Set<Int> = []
    /// What keeps files from being heard, a sentence each.
    private(set) var notices: [String] = []

    /// A film without other files.
    init(reader: any AssetReading) { self.reader = reader }

    /// Opens the files that the program names, and those beside the film where it wants them. Blocks.
    init(added film: any AssetReading, _ place: FilmLocation, _ configuration: PlayerConfiguration, _ options: AssetReaderOptions) {
        reader = film
        var files = configuration.audioFiles.map { (path: $0, language: String?.none, isNamed: true) }
        if configuration.findsAudioFiles, case .place(let path) = place, film.tracks.contains(where: { $0.kind == .video }) {
            let found = SubtitleSearch.matches(of: path, endings: SubtitleSearch.soundEndings).filter { $0.path != path }
            files += found.filter { !configuration.audioFiles.contains($0.path) }.map { ($0.path, $0.language, false) }
        }
        guard !files.isEmpty else { return }
        guard film.isSeekable, film.duration.isNumeric else {
            notices.append("\(film.location) cannot be sought in: the sound of other files is not played with it.")
            return
        }
        var options = options
        // What is said of bytes and of qualities is said of the film.
        (options.progress, options.source) = (nil, nil)
        for file in files {
            do throws(AssetError) {
                let source = try SourceReader(opening: file.path, options, configuration.sandbox)
                guard source.reader.isSeekable, source.reader.tracks.contains(where: { $0.kind == .audio && $0.isDecodable }) else {
                    notices.append("\(file.path): no sound that can be played with a film.")
                    continue
                }
                reader = PairedReader(film.location, frames: reader, sound: source.reader, file: (file.path, file.language))
                if file.isNamed, first.isEmpty { first = Set(reader.tracks.filter { $0.file == file.path }.map(\.id)) }
            } catch { notices.append(error.description) }
        }
    }
}
