/// A program's own values that travel with a sample and arrive with the frame that answers it.
///
///     sample.attachments["camera"] = CameraSettings(exposure: 0.01)
///     …
///     if let settings = frame.attachments["camera"] as? CameraSettings { … }
///
/// The counterpart of `CMSetAttachment` with `kCMAttachmentMode_ShouldPropagate`. Besides `captureTime` the library neither reads nor changes the
/// values. An empty collection costs no memory. Thread-safety: a value.
public struct Attachments: Sendable, Hashable {
    private var values: [String: any Sendable & Hashable] = [:]

    /// An empty collection.
    public init() {}

    /// Whether there is no value.
    public var isEmpty: Bool { values.isEmpty }
    /// The names, in no order.
    public var names: [String] { Array(values.keys) }

    /// The value under `name`; nil removes it.
    public subscript(name: String) -> (any Sendable & Hashable)? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Two collections are equal when they have the same names with equal values.
    public static func == (a: Attachments, b: Attachments) -> Bool {
        func hashable(_ values: [String: any Sendable & Hashable]) -> [String: AnyHashable] { values.mapValues { AnyHashable($0) } }
        return a.values.isEmpty && b.values.isEmpty || hashable(a.values) == hashable(b.values)
    }

    /// Hashes the names only; equal collections have equal names.
    public func hash(into hasher: inout Hasher) {
        for name in values.keys.sorted() { hasher.combine(name) }
    }
}

extension Attachments {
    private static let captureTimeName = "scanout.capture-time"

    /// When a camera captured the frame, on CLOCK_MONOTONIC: a player attaches it to the frames of a camera, and the display measures by it how long
    /// they take. Nil for the frames of a film.
    public var captureTime: HostTime? {
        get { self[Self.captureTimeName] as? HostTime }
        set { self[Self.captureTimeName] = newValue }
    }
}

extension Attachments {
    private static let hdr10PlusName = "scanout.hdr10-plus", dolbyVisionName = "scanout.dolby-vision"

    /// What the film says of this frame's light, for displays that adapt to each scene: HDR10+ (SMPTE ST 2094-40), as ITU-T T.35 carries it in the
    /// stream, from the country's code on. The decoder attaches it; at most 1024 bytes. Nil: the frame has none.
    public var hdr10Plus: [UInt8]? {
        get { self[Self.hdr10PlusName] as? [UInt8] }
        set { self[Self.hdr10PlusName] = newValue }
    }

    /// The same of Dolby Vision: the RPU, as its NAL unit or OBU carries it. The decoder attaches it; at most 2048 bytes. Nil: the frame has none.
    public var dolbyVisionRPU: [UInt8]? {
        get { self[Self.dolbyVisionName] as? [UInt8] }
        set { self[Self.dolbyVisionName] = newValue }
    }
}
