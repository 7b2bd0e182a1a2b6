internal import Demuxing
internal import Media
internal import PlaySupport
internal import Player

/// Films that stand on pages.
extension PlaySession {
    /// Opens a film; where that is a page, the film that yt-dlp finds on it. Blocks, on the thread that opens.
    func open(_ film: FilmLocation, _ player: Player, _ cancellation: AssetCancellation) throws(PlayerError) {
        guard options.ytdl, options.raw == nil, case .place(let location) = film else { return try player.open(film) }
        let search = PageSearch(format: options.ytdlFormat, cancellation: cancellation)
        if let page = PageSearch.wanted(location) { return try player.open(.page(search.film(on: page, called: location))) }
        do throws(PlayerError) { return try player.open(film) } catch {
            guard PageSearch.mayBePage(location, error) else { throw error }
            try player.open(.page(search.film(on: location, called: location, after: error)))
        }
    }

    /// Whether a film cannot be opened to follow another one without a gap, because it is looked for on a page first.
    func isOnPage(_ entry: Playlist.Entry?, _ error: PlayerError? = nil) -> Bool {
        guard options.ytdl, options.raw == nil, let entry else { return false }
        return PageSearch.wanted(entry.location) != nil || error.map { PageSearch.mayBePage(entry.location, $0) } ?? false
    }
}
