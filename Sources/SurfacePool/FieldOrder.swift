/// Whether a frame was taken at one moment, or as two fields one after the other.
public enum FieldOrder: UInt8, Sendable, Hashable {
    /// One moment: all rows belong together.
    case progressive = 0
    /// Two fields; that of the upper row, its even rows counted from 0, comes first.
    case topFirst = 1
    /// Two fields; that of the lower row comes first.
    case bottomFirst = 2
}

extension VideoFrame.Flags {
    /// What `interlaced` and `topFieldFirst` say together.
    public var fieldOrder: FieldOrder { !contains(.interlaced) ? .progressive : contains(.topFieldFirst) ? .topFirst : .bottomFirst }
}
