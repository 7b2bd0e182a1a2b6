/// Why a sample or a frame was not shown. Each one that is not shown has exactly one reason.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
    /// Its time had passed before a display could take it.
    case late
    /// There was no memory for it.
    case outOfSurfaces
    /// It depends on samples that the decoder never got.
    case discontinuity
    /// A flush discarded it.
    case flushed
    /// The decoder could not decode it.
    case decodeError
    /// Its flags say that it is only decoded because others depend on it.
    case doNotDisplay
    /// It carries no frame of its own: a second field, a reference that is never shown.
    case noFrame
    /// It was left out to catch up; no other sample depends on it.
    case skipped
    /// It is an image that is not a frame of this library, which no sink can show.
    case unsupported
}
