internal import Demuxing
internal import Media
internal import SampleQueue
public import Sandbox

/// What a file holds, for people and for programs: the answer of `play info`.
public struct MediaReport: Sendable {
    private let reader: any AssetReading
    private let location: String

    /// One sentence, where the film was not read in the process that was asked for.
    public let notice: String?

    /// Opens `location` and reads its head. Errors name the file and the cause.
    public init(location: String, sandbox: SandboxOptions = SandboxOptions()) throws(PlayerError) {
        self.location = location
        do {
            (reader, notice) = try OpenedSource.reader(location, AssetReaderOptions(isThorough: true), sandbox)
        } catch {
            throw PlayerError(error)
        }
    }

    /// A few lines, a track each.
    public var text: String {
        var lines = ["\(location): \(reader.containerName)"]
        if reader.duration.isNumeric { lines[0] += ", \(reader.duration)" }
        if let title = reader.title { lines.append("  title \(title)") }
        for track in reader.tracks { lines.append("  track \(track.id): " + Self.line(track)) }
        return lines.joined(separator: "\n")
    }

    public var json: JSONValue {
        .object([
            .init("file", .string(location)),
            .init("container", .string(reader.containerName)),
            .init("title", reader.title.map { .string($0) } ?? .null),
            .init("durationSeconds", reader.duration.isNumeric ? .number(reader.duration.seconds) : .null),
            .init("seekable", .bool(reader.isSeekable)),
            .init("tracks", .array(reader.tracks.map(Self.object))),
        ])
    }

    private static func line(_ track: AssetTrack) -> String {
        var parts: [String]
        switch track.format {
        case .video(let format):
            let visible = format.visible.size
            parts = [track.kind == .attachedPicture ? "picture" : "video", format.codec.name, visible.description]
            let display = format.attributes.displaySize(of: visible)
            if display != visible { parts.append("shown as \(display)") }
            if format.attributes.orientation.rotation != .none { parts.append("rotated \(format.attributes.orientation.rotation.rawValue)°") }
            if format.frameRate.isKnown { parts.append("\(decimal(format.frameRate.doubleValue)) fps") }
            if let color = colorName(format.attributes.color) { parts.append(color) }
        case .audio(let format):
            parts = ["audio", format.codecName, "\(format.sampleRate) Hz"]
            parts.append(format.channelLayout.isEmpty ? "\(format.channelCount) channels" : format.channelLayout)
        case .other(let name):
            parts = ["\(track.kind)", name]
        }
        if let language = track.language { parts.append(language) }
        if let title = track.title { parts.append("“\(title)”") }
        if track.isDefault { parts.append("default") }
        if !track.isDecodable, track.kind != .other { parts.append("no decoder") }
        return parts.joined(separator: ", ")
    }

    private static func object(_ track: AssetTrack) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .integer(Int64(track.id))),
            .init("kind", .string("\(track.kind)")),
            .init("default", .bool(track.isDefault)),
            .init("decodable", .bool(track.isDecodable)),
            .init("language", track.language.map { .string($0) } ?? .null),
            .init("title", track.title.map { .string($0) } ?? .null),
            .init("durationSeconds", track.duration.isNumeric ? .number(track.duration.seconds) : .null),
            .init("timeBase", .string(track.timeBase.description)),
        ]
        switch track.format {
        case .video(let format): members += videoMembers(format)
        case .audio(let format):
            members += [
                .init("codec", .string(format.codecName)),
                .init("sampleRate", .integer(Int64(format.sampleRate))),
                .init("channels", .integer(Int64(format.channelCount))),
                .init("channelLayout", .string(format.channelLayout)),
            ]
        case .other(let name): members.append(.init("codec", .string(name)))
        }
        return .object(members)
    }

    private static func videoMembers(_ format: VideoFormat) -> [JSONValue.Member] {
        let attributes = format.attributes
        return [
            .init("codec", .string(format.codec.name)),
            .init("codedWidth", .integer(Int64(format.codedSize.width))),
            .init("codedHeight", .integer(Int64(format.codedSize.height))),
            .init("visibleX", .integer(Int64(format.visible.x))),
            .init("visibleY", .integer(Int64(format.visible.y))),
            .init("visibleWidth", .integer(Int64(format.visible.width))),
            .init("visibleHeight", .integer(Int64(format.visible.height))),
            .init("pixelAspect", attributes.pixelAspect.isKnown ? .string(attributes.pixelAspect.description) : .null),
            .init("rotation", .integer(Int64(attributes.orientation.rotation.rawValue))),
            .init("mirrored", .bool(attributes.orientation.isMirrored)),
            .init("frameRate", format.frameRate.isKnown ? .string(format.frameRate.description) : .null),
            .init("profile", format.profile == -99 ? .null : .integer(Int64(format.profile))),
            .init("level", format.level == -99 ? .null : .integer(Int64(format.level))),
            .init("colorPrimaries", .integer(Int64(attributes.color.primaries))),
            .init("colorTransfer", .integer(Int64(attributes.color.transfer))),
            .init("colorMatrix", .integer(Int64(attributes.color.matrix))),
            .init("colorRange", .string("\(attributes.color.range)")),
            .init("chromaSiting", .string("\(attributes.color.chromaSiting)")),
            .init("hdr10", .bool(attributes.hdr != nil)),
        ]
    }

    private static func colorName(_ color: ColorDescription) -> String? {
        switch (color.primaries, color.transfer) {
        case (_, 16): "HDR PQ"
        case (_, 18): "HDR HLG"
        case (1, _): "BT.709"
        case (9, _): "BT.2020"
        case (5, _), (6, _): "BT.601"
        default: nil
        }
    }

    /// At most three decimals, none of them idle.
    private static func decimal(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        var text = String(thousandths % 1000)
        text = String(repeating: "0", count: 3 - text.count) + text
        while text.hasSuffix("0") { text.removeLast() }
        return text.isEmpty ? "\(thousandths / 1000)" : "\(thousandths / 1000).\(text)"
    }
}
