internal import Composition
internal import Demuxing
public import JSON
internal import Media
public import Player
internal import Reading
internal import SampleQueue
public import Sandbox

/// What a file holds, as text and as JSON: the answer of `play info`.
///
/// Thread-safety: one thread at a time.
public struct MediaReport: Sendable {
    private let facts: MediaFacts
    /// nil for a time line.
    private let reader: (any AssetReading)?
    private let location: String
    /// For each track when `readSamples` has been called.
    private var tables: [SampleTable]?

    /// Sentences for the viewer: what a time line has that is not supported, or why the file is not read in the process that was asked for.
    public let notices: [String]

    /// Opens `location` and reads its head, or a time line whole. Blocks until then; errors name the file and the cause.
    public init(location: String, sandbox: SandboxOptions = SandboxOptions()) throws(PlayerError) {
        self.location = location
        if TimelineFile.isTimeline(location) {
            let file: TimelineFile
            do throws(ReadingError) {
                file = try TimelineFile(location, options: ReadingOptions(sandbox: sandbox))
            } catch { throw PlayerError(error) }
            (facts, reader, notices) = (MediaFacts(file), nil, file.notices)
            return
        }
        do {
            var options = AssetReaderOptions(isThorough: true)
            // The tracks are those that are played: subtitles of a list among them.
            options.lists = .adaptively
            let source = try SourceReader(opening: location, options, sandbox)
            (facts, reader, notices) = (MediaFacts(source.reader), source.reader, source.notice.map { [$0] } ?? [])
        } catch {
            throw PlayerError(error)
        }
    }

    /// Whether nothing moves in it: it has sound, and frames only as a cover.
    public var hasOnlySound: Bool {
        guard let tracks = reader?.tracks else { return false }
        return tracks.contains { $0.kind == .audio } && !tracks.contains { $0.kind == .video }
    }

    /// Reads the whole file, so that `text` and `json` list every sample. Blocks until then. Call it once.
    ///
    /// - Throws: where not a single sample can be read; for a time line, whose frames are made when they are wanted.
    public mutating func readSamples() throws(PlayerError) {
        guard let reader else { throw PlayerError(.invalidArgument, "\(location): a time line has no samples.") }
        do { tables = try SampleTable.read(reader) } catch { throw PlayerError(error) }
    }

    /// One line for the container and one for each track, then one for each sample where these have been read.
    public var text: String {
        var lines = ["\(location): \(facts.containerName)".printable]
        if facts.duration.isNumeric { lines[0] += ", \(facts.duration)" }
        if let title = facts.title { lines.append("  title \(title)".printable) }
        let hidden = FilmTexts.ofFile.union(["title"])
        let texts = facts.metadata.filter { !hidden.contains($0.key.lowercased()) }.sorted { $0.key < $1.key }
        for (name, text) in texts { lines.append("  \(name) \(text)".printable) }
        for (index, variant) in (facts.offer?.variants ?? []).enumerated() {
            lines.append("  variant \(index): " + Self.line(variant).printable + (index == facts.offer?.chosen ? ", read" : ""))
        }
        for track in facts.tracks { lines.append("  track \(track.id): " + (Self.line(track) + choice(of: track)).printable) }
        for (index, chapter) in facts.chapters.enumerated() {
            lines.append(
                "  chapter \(index + 1): \(chapter.range.start) to \(chapter.range.end)"
                    + (chapter.title.isEmpty ? "" : ", \(chapter.title)").printable)
        }
        for part in facts.parts { lines.append("  track \(part.track), " + Self.line(part).printable) }
        for table in tables ?? [] { lines += SampleListing.lines(table) }
        return lines.joined(separator: "\n")
    }

    /// The same as one JSON object, with every number that the text leaves out.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("file", text: location.withoutPasswords),
            .init("container", text: facts.containerName),
            .init("title", text: facts.title),
            .init("durationSeconds", Self.seconds(facts.duration)),
            .init("seekable", .bool(facts.isSeekable)),
            .init("metadata", .object(facts.metadata.sorted { $0.key < $1.key }.map { .init($0.key, text: $0.value) })),
            .init("tracks", .array(facts.tracks.map(Self.object))),
            .init("chapters", .array(facts.chapters.map(Self.object))),
        ]
        if let offer = facts.offer {
            let variants = offer.variants.enumerated().map { Self.object($1, isRead: $0 == offer.chosen) }
            members.append(.init("variants", .array(variants)))
        }
        if reader == nil { members.append(.init("parts", .array(facts.parts.map(Self.object)))) }
        if let tables { members.append(.init("samples", .array(tables.flatMap(SampleListing.objects)))) }
        return .object(members)
    }

    /// How the track is asked for, where it is one of several: `, --aid 2`.
    private func choice(of track: AssetTrack) -> String {
        let rivals = facts.tracks.rivals(of: track), option: String
        switch track.kind {
        case .video, .attachedPicture: option = "--vid"
        case .audio: option = "--aid"
        case .subtitle: option = "--sid"
        case .other: return ""
        }
        // Subtitles are named also where there is one, because it is not shown by itself.
        guard rivals.count > (track.kind == .subtitle ? 0 : 1), let index = rivals.firstIndex(where: { $0.id == track.id }) else { return "" }
        return ", \(option) \(index + 1)"
    }

    private static func seconds(_ time: MediaTime) -> JSONValue { time.isNumeric ? .number(time.seconds) : .null }

    private static func line(_ track: AssetTrack) -> String {
        var parts: [String]
        switch track.format {
        case .video(let format):
            let visible = format.visible.size
            parts = [track.kind == .attachedPicture ? "cover" : "video", format.codec.name, visible.description]
            let display = format.attributes.displaySize(of: visible)
            if display != visible { parts.append("shown as \(display)") }
            if format.attributes.orientation.rotation != .none { parts.append("rotated \(format.attributes.orientation.rotation.rawValue)°") }
            if format.attributes.orientation.isMirrored { parts.append("mirrored") }
            if format.hasAlpha { parts.append("alpha") }
            // A cover is one frame, whatever the container's time base.
            if format.frameRate.isKnown, track.kind != .attachedPicture { parts.append("\(decimal(format.frameRate.doubleValue)) fps") }
            if let color = colorName(format.attributes.color) { parts.append(color) }
        case .audio(let format):
            parts = ["audio", format.codecName, "\(format.sampleRate) Hz"]
            parts.append(
                format.channelLayout.isEmpty ? format.channelCount == 1 ? "1 channel" : "\(format.channelCount) channels" : format.channelLayout)
        case .other(let name):
            parts = ["\(track.kind)", name]
        }
        if let language = track.language { parts.append(language) }
        if let title = track.title { parts.append("“\(title)”") }
        if track.isDefault { parts.append("default") }
        if track.isForced { parts.append("forced") }
        if track.isHearingImpaired { parts.append("hearing impaired") }
        if !track.isDecodable, track.kind != .other { parts.append("no decoder") }
        parts += track.references.map { "\($0.kind) \($0.tracks.map(String.init).joined(separator: " "))" }
        return parts.joined(separator: ", ")
    }

    private static func line(_ variant: StreamVariant) -> String {
        var parts = [variant.size?.description, variant.frameRate.map { "\(decimal($0)) fps" }].compactMap(\.self)
        parts.append("\(decimal(Double(variant.bitRate) / 1e6)) Mb/s")
        return (parts + variant.codecs).joined(separator: ", ")
    }

    private static func line(_ part: MediaFacts.Part) -> String {
        let (source, target) = (part.mapping.source, part.mapping.target), speed = part.mapping.keepsSpeed ? "" : ", \(decimal(part.mapping.speed))x"
        return "\(target.start) to \(target.end): \(part.film) from \(source.start)\(speed)"
    }

    private static func object(_ part: MediaFacts.Part) -> JSONValue {
        let (source, target) = (part.mapping.source, part.mapping.target)
        return .object([
            .init("track", count: part.track), .init("startSeconds", seconds(target.start)), .init("endSeconds", seconds(target.end)),
            .init("file", text: part.film), .init("fileStartSeconds", seconds(source.start)), .init("speed", .number(part.mapping.speed)),
        ])
    }

    private static func object(_ chapter: AssetChapter) -> JSONValue {
        .object([
            .init("startSeconds", seconds(chapter.range.start)), .init("endSeconds", seconds(chapter.range.end)), .init("title", text: chapter.title),
        ])
    }

    private static func object(_ variant: StreamVariant, isRead: Bool) -> JSONValue {
        .object([
            .init("bitRate", .integer(variant.bitRate)),
            .init("width", variant.size.map { .integer(Int64($0.width)) } ?? .null),
            .init("height", variant.size.map { .integer(Int64($0.height)) } ?? .null),
            .init("frameRate", variant.frameRate.map { .number($0) } ?? .null),
            .init("codecs", .array(variant.codecs.map { .string($0) })),
            .init("read", .bool(isRead)),
        ])
    }

    private static func object(_ reference: TrackReference) -> JSONValue {
        .object([
            .init("kind", text: reference.kind.description), .init("tracks", .array(reference.tracks.map { .integer(Int64($0)) })),
        ])
    }

    private static func object(_ track: AssetTrack) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", count: track.id),
            .init("kind", text: "\(track.kind)"),
            .init("default", .bool(track.isDefault)),
            .init("forced", track.kind == .subtitle ? .bool(track.isForced) : .null),
            .init("hearingImpaired", track.kind == .subtitle ? .bool(track.isHearingImpaired) : .null),
            .init("decodable", .bool(track.isDecodable)),
            .init("language", text: track.language),
            .init("title", text: track.title),
            .init("durationSeconds", seconds(track.duration)),
            .init("timeBase", text: track.timeBase.description),
            .init("references", .array(track.references.map(object))),
        ]
        switch track.format {
        case .video(let format): members += sizeMembers(format) + appearanceMembers(format)
        case .audio(let format):
            members += [
                .init("codec", text: format.codecName),
                .init("sampleRate", count: Int(format.sampleRate)),
                .init("channels", count: Int(format.channelCount)),
                .init("channelLayout", text: format.channelLayout),
            ]
        case .other(let name): members.append(.init("codec", text: name))
        }
        return .object(members)
    }

    private static func sizeMembers(_ format: VideoFormat) -> [JSONValue.Member] {
        [
            .init("codec", text: format.codec.name),
            .init("codedWidth", count: format.codedSize.width),
            .init("codedHeight", count: format.codedSize.height),
            .init("visibleX", count: format.visible.x),
            .init("visibleY", count: format.visible.y),
            .init("visibleWidth", count: format.visible.width),
            .init("visibleHeight", count: format.visible.height),
            .init("frameRate", text: format.frameRate.isKnown ? format.frameRate.description : nil),
            .init("profile", stated(format.profile)),
            .init("level", stated(format.level)),
        ]
    }

    /// libavcodec's -99 (`AV_PROFILE_UNKNOWN`, `AV_LEVEL_UNKNOWN`) says that the container has no such number.
    private static func stated(_ number: some BinaryInteger) -> JSONValue { number == -99 ? .null : .integer(Int64(number)) }

    private static func appearanceMembers(_ format: VideoFormat) -> [JSONValue.Member] {
        let attributes = format.attributes
        return [
            .init("pixelAspect", text: attributes.pixelAspect.isKnown ? attributes.pixelAspect.description : nil),
            .init("rotation", count: Int(attributes.orientation.rotation.rawValue)),
            .init("mirrored", .bool(attributes.orientation.isMirrored)),
            .init("colorPrimaries", count: Int(attributes.color.primaries)),
            .init("colorTransfer", count: Int(attributes.color.transfer)),
            .init("colorMatrix", count: Int(attributes.color.matrix)),
            .init("colorRange", text: "\(attributes.color.range)"),
            .init("chromaSiting", text: "\(attributes.color.chromaSiting)"),
            .init("hdr10", .bool(attributes.hdr != nil)),
            .init("alpha", .bool(format.hasAlpha)),
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

    /// At most three decimals, without trailing zeros.
    private static func decimal(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        var text = String(thousandths % 1000)
        text = String(repeating: "0", count: 3 - text.count) + text
        while text.hasSuffix("0") { text.removeLast() }
        return text.isEmpty ? "\(thousandths / 1000)" : "\(thousandths / 1000).\(text)"
    }
}
