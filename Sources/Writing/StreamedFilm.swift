internal import Media

/// A film for HTTP Live Streaming, by the name of its playlist: the names of the two files, and what the playlist is told while the film is
/// written.
///
/// Thread-safety: the one thread that writes.
@safe
final class StreamedFilm: @unchecked Sendable {
    private let draft: FileDraft
    private var list: SegmentList

    /// The file in which the film lies whose playlist is at `path`: `film.mp4` beside `film.m3u8`. nil for a name that is no playlist's.
    static func filmPath(ofListAt path: String) -> String? {
        let ending = ".m3u8"
        guard path.count > ending.count, path.lowercased().hasSuffix(ending), path.dropLast(ending.count).last != "/" else { return nil }
        return path.dropLast(ending.count) + ".mp4"
    }

    /// Creates the playlist under its temporary name.
    init(listPath: String, filmPath: String, overwrites: Bool) throws(WritingError) {
        draft = try FileDraft(path: listPath, overwrites: overwrites)
        let name = filmPath.lastIndex(of: "/").map { filmPath[filmPath.index(after: $0)...] } ?? filmPath[...]
        list = SegmentList(fileName: String(name))
    }

    /// Whether the film has frames; told before the first sample.
    var hasVideo: Bool {
        get { list.hasVideo }
        set { list.hasVideo = newValue }
    }

    deinit { discard() }

    /// Removes what has not been published.
    func discard() { draft.discard() }

    /// A sample has been written.
    func note(_ times: Muxer.Times, isVideo: Bool) {
        let duration = times.duration.isNumeric ? times.duration : .zero
        list.note(isVideo: isVideo, end: times.presentation + duration)
    }

    /// A fragment has come to its end; all its bytes are in the film's file.
    ///
    /// - Parameter next: Film time at which the next one begins; nil: it was the last.
    func endSegment(at next: MediaTime?, _ muxer: Muxer) throws(WritingError) {
        if list.headByteCount == nil { list.headByteCount = try muxer.headByteCount() }
        list.endSegment(at: next, byteCount: muxer.wholeByteCount)
    }

    /// Writes the playlist and gives it its name.
    func publish() throws(WritingError) {
        do throws(SystemError) { try writeWhole(Array(list.text.utf8), to: draft.descriptor.rawValue) } catch {
            throw WritingError.writing(draft.path, error.code)
        }
        try draft.publish()
    }
}
