/// Bytes of a film that a program brings itself: out of an archive, a database, a protocol of its own.
///
///     final class Entry: ByteSource { … }
///     try await player.open(Entry("film.mkv", in: archive), name: "film.mkv")
///
/// `MemoryBytes` and `DescriptorBytes` are ready-made. With `--sandbox full`, too, the bytes are read in this process, for the one without rights.
///
/// Thread-safety: a player calls `byteCount`, `isSeekable` and `read` on one thread at a time, though not always the same. `cancel` may come on any
/// thread at any moment, also while `read` runs. Nothing is called any more when the player has been closed. None of them may close the player.
public protocol ByteSource: AnyObject, Sendable {
    /// How many bytes there are; nil when that is unknown. Asked once, before the first `read`.
    ///
    /// What lies behind this number is not read. Fewer bytes are a film that was cut short.
    var byteCount: Int64? { get }
    /// Whether `read` takes any offset; asked once, before the first `read`. Otherwise each `read` follows the one before, as with a pipe, and the
    /// film cannot be sought in.
    var isSeekable: Bool { get }
    /// Reads some bytes from `offset` on: at least one, at most as many as `target` holds. Blocks until there are some.
    ///
    /// An error that it throws ends the film, and its description becomes a part of the player's sentence.
    /// - Returns: How many; 0 at the end.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
    /// Makes a `read` that blocks, and every later one, return soon, whatever it returns. Called at most once by a player, which is then closed.
    func cancel()
}

extension ByteSource {
    /// For sources that never block for long.
    public func cancel() {}
}
