internal import Demuxing
internal import Sandbox

/// A film that stands on a page: where its frames and its sound are.
package struct PageFilm: Sendable, Hashable {
    /// A part of it on a web server.
    package struct Part: Sendable, Hashable {
        /// Where it is; `http` or `https`.
        package var address: String
        /// What its server is told, each `Name: value`.
        package var headerFields: [String]

        package init(address: String, headerFields: [String]) { (self.address, self.headerFields) = (address, headerFields) }
    }

    /// The page's address, by which sentences call the film.
    package var page: String
    /// What the page calls it.
    package var title: String?
    /// The frames, with the sound where that has no place of its own.
    package var frames: Part
    /// The sound; nil: it is beside the frames.
    package var sound: Part?

    package init(page: String, title: String? = nil, frames: Part, sound: Part? = nil) {
        (self.page, self.title, self.frames, self.sound) = (page, title, frames, sound)
    }

    /// Opens its parts. Blocks.
    /// - Throws: errors that name the page.
    func open(_ options: AssetReaderOptions, _ sandbox: SandboxOptions) throws(AssetError) -> (reader: any AssetReading, notice: String?) {
        let first = try open(frames, options, sandbox)
        guard let sound else { return (first.reader, first.notice) }
        var quiet = options
        // What is said of a film's variant and of its bytes is said of its frames.
        quiet.progress = nil
        let second = try open(sound, quiet, sandbox)
        return (PairedReader(page, frames: first.reader, sound: second.reader), first.notice ?? second.notice)
    }

    private func open(_ part: Part, _ options: AssetReaderOptions, _ sandbox: SandboxOptions) throws(AssetError) -> SourceReader {
        var options = options
        let isNamed = options.network.userAgent != nil
        // What the viewer says of the player counts.
        options.network.headerFields += part.headerFields.filter { !isNamed || !$0.lowercased().hasPrefix("user-agent:") }
        do throws(AssetError) { return try SourceReader(opening: part.address, options, sandbox) } catch {
            // The addresses are long, and nobody has typed them.
            throw AssetError(error.code, error.description.replacing(part.address, with: "\(page): its film"))
        }
    }
}
