internal import Media

/// Why a composition cannot be edited as wanted.
public struct CompositionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// A time is no number, or lies before zero.
        case time
        /// A range is empty, open, or reaches beyond what it is a part of.
        case range
        /// The composition has no such track.
        case noTrack
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// One sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Checks a range that an edit is about: both ends are numbers, the start is not below zero, and it is not empty.
    static func check(_ range: MediaTimeRange, _ what: String) throws(CompositionError) {
        guard range.start.isNumeric, range.end.isNumeric, range.start >= .zero else {
            throw CompositionError(.time, "\(what) \(range) must begin and end at numbers, not before zero.")
        }
        guard !range.isEmpty else { throw CompositionError(.range, "\(what) \(range) is empty.") }
    }
}
