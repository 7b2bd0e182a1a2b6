internal import JSON
internal import PlaySupport

/// A track of the film, as remote controls see it.
public struct RemoteTrack: Sendable, Hashable {
    /// What it carries, by mpv's names.
    public enum Kind: String, Sendable, Hashable { case video, audio, sub }

    /// What it carries.
    public var kind: Kind
    /// Counted from 1 within its kind.
    public var number: Int
    /// libavcodec's name.
    public var codec: String?
    /// ISO 639 code.
    public var language: String?
    /// What a viewer is shown.
    public var title: String?
    /// As the container says, and whether it plays.
    public var isDefault = false, isForced = false, isHearingImpaired = false, isSelected = false
    /// The file that holds it, where that is not the film's.
    public var file: String?
    /// A cover.
    public var isImage = false

    /// A track of which nothing else is known.
    public init(_ kind: Kind, _ number: Int) { (self.kind, self.number) = (kind, number) }

    /// The members of an entry of mpv's `track-list`.
    var value: JSONValue {
        var members = [
            JSONValue.Member("id", .integer(Int64(number))), JSONValue.Member("type", .string(kind.rawValue)),
            JSONValue.Member("image", .bool(isImage)), JSONValue.Member("albumart", .bool(isImage)), JSONValue.Member("default", .bool(isDefault)),
            JSONValue.Member("forced", .bool(isForced)), JSONValue.Member("hearing-impaired", .bool(isHearingImpaired)),
            JSONValue.Member("external", .bool(file != nil)), JSONValue.Member("selected", .bool(isSelected)),
        ]
        for (name, text) in [("title", title), ("lang", language), ("codec", codec), ("external-filename", file)] {
            if let text { members.append(JSONValue.Member(name, .string(text))) }
        }
        return .object(members)
    }
}

/// A part of the film that has a name, as remote controls see it.
public struct RemoteChapter: Sendable, Hashable {
    /// What a viewer is shown; may be empty.
    public var title: String
    /// Where it begins, in seconds.
    public var time: Double

    /// Takes any text and time.
    public init(title: String, time: Double) { (self.title, self.time) = (title, time) }
}
