package import Media

/// What a time line holds, without its text: the parts of films, where they lie, and how they dissolve.
///
/// The text is a stranger's. Where a film is read in a process without rights, the text is parsed there, too, and only this comes back. Every number
/// and text of it has bounds, which hold in both cases. No path in it has been opened or looked at.
///
/// Thread-safety: a value.
package struct TimelineDescription: Sendable, Hashable {
    /// What a track carries.
    package enum Kind: UInt8, Sendable, Hashable { case video, sound }

    /// A part of a film in a track.
    package struct Clip: Sendable, Hashable {
        /// The index of its track.
        package var track: Int
        /// Where the film is, as the time line has it.
        package var address: String
        /// The part of the film, which begins at zero.
        package var part: MediaTimeRange
        /// Where it is shown.
        package var target: MediaTimeRange
        /// How long a frame lasts by the clip's own rate; nil for sound, and where it has none.
        package var frameDuration: MediaTime?
        /// What sentences call it.
        package var label: String
    }

    /// Something that the time line has and a composition has not.
    package struct Notice: Sendable, Hashable {
        package var time: MediaTime
        /// The item and what is wrong with it, without a full stop.
        package var words: String
    }

    /// What was found, in the order of the file.
    package enum Entry: Sendable, Hashable {
        case clip(Clip)
        case notice(Notice)
    }

    /// How opaque or loud a track is: a change during a range, or from the start of an empty one on.
    package struct Level: Sendable, Hashable {
        package var track: Int
        package var range: MediaTimeRange
        package var from: Double
        package var to: Double
    }

    package struct Marker: Sendable, Hashable {
        package var time: MediaTime
        package var name: String
    }

    /// Empty where it has none.
    package var name = ""
    package var length = MediaTime.zero
    /// By the time line's own rate; nil where it has none.
    package var frameDuration: MediaTime?
    /// In order: later ones lie over earlier ones.
    package var tracks: [Kind] = []
    package var entries: [Entry] = []
    /// Notices beyond those among `entries`.
    package var unlistedNoticeCount = 0
    package var levels: [Level] = []
    package var markers: [Marker] = []

    package init() {}

    // MARK: Bounds

    package static let mostTracks = 64
    /// More than any film has.
    package static let mostClips = 4000
    package static let mostNotices = 1000
    /// A dissolve has two levels on each side.
    package static let mostLevels = 4 * mostClips
    package static let mostMarkers = 4000
    /// A day, in seconds.
    package static let longest = MediaTime(value: 86_400, timescale: 1)
    /// Thirty years, in seconds: more than time codes reach.
    static let latest = MediaTime(value: 1_000_000_000, timescale: 1)
    /// 1 µs: more than times lose by rounding, where a fraction is too large for `MediaTime`.
    package static let rounding = MediaTime(value: 1, timescale: 1_000_000)
    /// Of an address, in bytes: as long as a path may be.
    static let longestAddress = 4096
    /// Of a text, in bytes.
    package static let largestText = 64 << 20
    /// 4 MiB: a thousand bytes for each clip.
    package static let largestCoding = 4 << 20
}

/// Why a text is no time line, or one that cannot be read.
package struct TimelineError: Error, Sendable, Hashable {
    /// What follows the file's name and a colon, without a full stop.
    package let words: String

    package init(_ words: String) { self.words = words }
}
