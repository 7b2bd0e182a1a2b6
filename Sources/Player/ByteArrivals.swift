package import Media

/// When the bytes of a stream came, to know when a sample came that the demuxer held back.
///
/// A frame in a transport stream ends where the next one begins, and its parser wants to see one more: libavformat hands it out when the stream is
/// two frames further. Each sample that is handed out says how much has come by then, and so when the beginning of those that follow has.
package struct ByteArrivals: Sendable {
    /// So much had come at this time, in ascending order.
    private var notes: [(count: Int64, at: HostTime)] = []
    /// More than a parser holds back.
    private static let mostNotes = 64

    package init() {}

    /// `count` bytes have come.
    package mutating func note(_ count: Int64, at time: HostTime) {
        if let last = notes.last, count <= last.count { return }
        if notes.count == Self.mostNotes { notes.removeFirst() }
        notes.append((count, time))
    }

    /// When the byte at `offset` had come, or a little later; nil where that is not known any more.
    package func arrival(of offset: Int64) -> HostTime? {
        guard let found = notes.firstIndex(where: { $0.count > offset }) else { return nil }
        // What had been forgotten may have come earlier.
        return found == 0 && notes.count == Self.mostNotes ? nil : notes[found].at
    }
}
