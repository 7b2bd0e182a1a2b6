internal import CAV
internal import Glibc

/// A program's `ByteSource` as the bytes of a film, of which nothing is believed that was not seen.
///
/// Thread-safety: one thread at a time; the cancellation may come from any.
package final class ProgramBytes: FilmBytes, @unchecked Sendable {
    private let source: any ByteSource
    private let cancellation: AssetCancellation
    package let isSeekable: Bool
    package let byteCount: Int64?
    private var hasFailed = false
    package private(set) var loss: String?

    /// - Parameter cancellation: passed on to the source.
    package init(_ source: any ByteSource, _ cancellation: AssetCancellation) {
        self.source = source
        self.cancellation = cancellation
        // First, because the two that follow may block as well.
        cancellation.onCancel { source.cancel() }
        byteCount = source.byteCount.flatMap { $0 >= 0 ? $0 : nil }
        isSeekable = source.isSeekable
    }

    package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        if cancellation.isCancelled { return Int(cav_error_exit) }
        if hasFailed { return Int(cav_error(EIO)) }
        var room = unsafe target
        if let byteCount {
            guard offset < byteCount else { return 0 }
            unsafe room = UnsafeMutableRawBufferPointer(rebasing: target.prefix(Int(min(Int64(target.count), byteCount - offset))))
        }
        let count: Int
        do { count = try unsafe source.read(into: room, at: offset) } catch { return fail("reading it failed: \(error)") }
        if cancellation.isCancelled { return Int(cav_error_exit) }
        guard (0...room.count).contains(count) else {
            return fail("its source returned \(count) where at most \(room.count) bytes were asked for")
        }
        // Demuxers also look where nothing is, so that this does not end the film here.
        if count == 0, let byteCount { loss = loss ?? "its source ends at byte \(offset) of the \(byteCount) that it said it has" }
        return count
    }

    private func fail(_ sentence: String) -> Int {
        if cancellation.isCancelled { return Int(cav_error_exit) }
        (hasFailed, loss) = (true, sentence)
        return Int(cav_error(EIO))
    }
}
