/// Why a sample or a frame was not shown: every one that was not gets exactly one of these.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
    /// Its time had passed before a display could take it.
    case late
    /// No memory could be had for it.
    case outOfSurfaces
    /// It depends on samples that were never given.
    case discontinuity
    /// A flush threw it away.
    case flushed
    /// The decoder could make nothing of it.
    case decodeError
    /// It is decoded only because others depend on it.
    case doNotDisplay
    /// It carries no frame of its own: a second field, a reference that is never shown.
    case noPicture
    /// Left out to catch up; no other depends on it.
    case skipped
}
