public import Decoding
public import Demuxing
public import Media
internal import PixelConversion

/// Why a film cannot be read, or not further.
public struct ReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The film cannot be opened, reached or read further; the kind as the demuxer tells it.
        case source(AssetError.Code)
        /// There is no decoder, or it failed; the kind as the decoder tells it.
        case decoding(DecodingError.Code)
        /// The film has no such track.
        case noTrack
        /// The film has no frame at the time that was asked for, or none within the tolerance.
        case noFrame
        /// Another part of the film is asked for, but the source cannot go back, or its configuration is final.
        case notSeekable
        /// A frame cannot be brought into the wanted form.
        case conversion
        /// A composition breaks a rule, or a frame of it cannot be drawn.
        case composition
        /// `cancel` was called, or the task was cancelled.
        case cancelled
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// One sentence.
    public let description: String
    /// The presentation time of the sample that the error is about; `.invalid` where it is about none.
    public let time: MediaTime

    /// Makes an error. `description` is one sentence.
    public init(_ code: Code, _ description: String, time: MediaTime = .invalid) {
        self.code = code
        self.description = description
        self.time = time
    }

    /// What the demuxer says of a film.
    package init(_ error: AssetError) {
        self.init(error.code == .cancelled ? .cancelled : .source(error.code), error.description)
    }

    init(_ error: DecodingError, location: String, time: MediaTime = .invalid) {
        let place = time.isNumeric ? ", at \(time)" : ""
        self.init(.decoding(error.code), "\(location)\(place): \(error.description).", time: time)
    }

    /// The kind of what went wrong with a frame after it was decoded.
    static func code(_ error: PixelConversionError) -> Code { error.code == .outOfSurfaces ? .decoding(.outOfSurfaces) : .conversion }

    static func cancelled(_ location: String) -> ReadingError { ReadingError(.cancelled, "\(location): reading was cancelled.") }
}

/// How far an output has come. The counterpart of `AVAssetReader.Status`.
public enum ReadingStatus: Sendable, Hashable {
    /// There may be more to read, or other ranges may be asked for.
    case reading
    /// Everything asked for has been read, and nothing more can be asked for.
    case completed
    /// Reading ended with an error.
    case failed(ReadingError)
    /// `cancel` was called.
    case cancelled
}
