/// A font that a container holds for the film's subtitles (a Matroska attachment).
///
/// Thread-safety: a value.
public struct AttachedFont: Sendable, Hashable {
    /// The file's name, as the container has it.
    public var name: String
    /// The file, such as TrueType or OpenType. Nothing of it has been checked.
    public var bytes: [UInt8]

    /// Takes the name and the bytes as they are.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// 64 MiB of all of a film's fonts are kept.
    static let mostBytes = 64 << 20
    /// 4096 fonts.
    static let most = 1 << 12
}
