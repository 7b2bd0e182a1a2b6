/// Reads a film's bytes where libavformat does not read them itself.
///
/// Thread-safety: one thread at a time.
package protocol FilmBytes: AnyObject, Sendable {
    var isSeekable: Bool { get }
    /// nil when it is unknown.
    var byteCount: Int64? { get }
    /// Reads some bytes, at least one, from `offset`, which follows the last read where the source is not seekable. Blocks.
    /// - Returns: how many; 0 at the end; below 0 an error as libavformat numbers them.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int
    /// Whether it can be read from the beginning again, though perhaps slowly.
    var canBegin: Bool { get }
    /// Why it ended before its end, in words that follow "ends at 0:04 of 0:20: "; nil when it did not.
    var loss: String? { get }
    /// Another file or address that the film names.
    func open(_ name: String) -> OtherSource
    /// The film itself once more, as a list does that is asked for whether it has grown.
    func again() -> OtherSource
    /// Why what the film names cannot be played, as the end of a sentence; nil as long as nothing forbids it.
    var objection: String? { get }
}

/// The answer to a film that names another file or address.
package enum OtherSource {
    case opened(any FilmBytes)
    /// The film may open it, but it does not exist.
    case missing
    case refused
}

extension FilmBytes {
    package var canBegin: Bool { isSeekable }
    package var loss: String? { nil }
    package func open(_ name: String) -> OtherSource { .refused }
    package func again() -> OtherSource { .opened(self) }
    package var objection: String? { nil }
}
