public import Demuxing
public import Encoding
public import Reading

/// Why a film could not be exported, or not to its end.
public enum ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The film cannot be opened.
    case source(AssetError)
    /// The film cannot be decoded, or not further.
    case reading(ReadingError)
    /// There is no encoder for it, or the encoder failed; with the number of the track.
    case encoding(EncodingError, track: Int)
    /// The file cannot be written.
    case output(WritingError)
    /// What is wanted makes no sense; a sentence.
    case settings(String)
    /// `cancel` was called, and the file is gone.
    case cancelled

    /// One sentence.
    public var description: String {
        switch self {
        case .source(let error): error.description
        case .reading(let error): error.description
        case .encoding(let error, let track): "track \(track): \(error.description)."
        case .output(let error): error.description
        case .settings(let sentence): sentence
        case .cancelled: "The export was cancelled."
        }
    }
}
