/// Why a request of a remote control is not carried out, in the words of mpv's `mpv_error_string`.
public enum RemoteError: String, Error, Sendable, Hashable {
    /// The request is no command, or its words make no sense.
    case invalidParameter = "invalid parameter"
    /// There is no property of this name.
    case propertyNotFound = "property not found"
    /// The property exists, but has no value now.
    case propertyUnavailable = "property unavailable"
    /// The property cannot have this value, or cannot be set.
    case propertyError = "error accessing property"
    /// The property has a value of another kind.
    case propertyFormat = "unsupported format for accessing property"
    /// The command cannot be carried out now.
    case command = "error running command"
}
