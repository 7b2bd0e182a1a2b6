/// A film's bytes where libavformat does not fetch them by itself.
///
/// Thread-safety: one thread at a time.
package protocol ByteSource: AnyObject, Sendable {
    var isSeekable: Bool { get }
    /// nil where nobody knows.
    var byteCount: Int64? { get }
    /// Reads some bytes, at least one, from `offset`, which follows the last read where the source is not seekable. Blocks.
    /// - Returns: how many; 0 at the end; below 0 an error as libavformat numbers them.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int
    /// Another file or address that the film names.
    func open(_ name: String) -> OtherSource
}

/// What comes of a film's wish for another file or address.
package enum OtherSource {
    case opened(any ByteSource)
    /// It might have it, but there is none.
    case missing
    case refused
}

extension ByteSource {
    package func open(_ name: String) -> OtherSource { .refused }
}
