internal import Demuxing
internal import Media

/// The manifest of a film for DASH (ISO/IEC 23009-1, on-demand profile): a file for each track, whose index says where its parts lie. A pure value.
struct DashManifest: Sendable {
    /// A track and its file.
    struct Track: Sendable {
        var description: TrackDescription
        var fileName: String
        var codec: CodecText
        /// Where the index of parts lies in the file; what a decoder needs is before it.
        var index: Range<Int64>
        var parts: SegmentIndex
    }

    var title: String?
    /// Where the last sample ends.
    var duration: MediaTime
    var tracks: [Track]

    /// The whole file.
    var text: String {
        let buffer = tracks.map(\.parts.longestSeconds).max() ?? 1
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\" type=\"static\" "
                + "mediaPresentationDuration=\"\(Self.length(duration.seconds))\" minBufferTime=\"\(Self.length(max(buffer, 1)))\">",
        ]
        if let title { lines.append("  <ProgramInformation><Title>\(Self.escaped(title))</Title></ProgramInformation>") }
        lines.append("  <Period>")
        for (number, track) in tracks.enumerated() { lines += Self.lines(track, number) }
        lines += ["  </Period>", "</MPD>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ track: Track, _ number: Int) -> [String] {
        let kind = track.codec.kind == .video ? "video" : "audio"
        var set = ["contentType=\"\(kind)\"", "mimeType=\"\(kind)/mp4\"", "subsegmentAlignment=\"true\"", "subsegmentStartsWithSAP=\"1\""]
        if let language = track.description.language { set.append("lang=\"\(escaped(language))\"") }
        var own = ["id=\"\(number)\"", "codecs=\"\(escaped(track.codec.text))\"", "bandwidth=\"\(track.parts.peakBitRate)\""]
        switch track.description.format {
        case .video(let format):
            own += ["width=\"\(format.visible.size.width)\"", "height=\"\(format.visible.size.height)\""]
            let rate = format.frameRate, aspect = format.attributes.pixelAspect
            if rate.isKnown { own.append("frameRate=\"\(rate.numerator)/\(rate.denominator)\"") }
            if aspect.isKnown { own.append("sar=\"\(aspect.numerator):\(aspect.denominator)\"") }
        case .audio(let format): own.append("audioSamplingRate=\"\(format.sampleRate)\"")
        case .other: break
        }
        var lines = ["    <AdaptationSet \(set.joined(separator: " "))>", "      <Representation \(own.joined(separator: " "))>"]
        if case .audio(let format) = track.description.format {
            let scheme = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011"
            lines.append("        <AudioChannelConfiguration schemeIdUri=\"\(scheme)\" value=\"\(format.channelCount)\"/>")
        }
        lines += [
            "        <BaseURL>\(SegmentList.address(track.fileName))</BaseURL>",
            "        <SegmentBase indexRange=\"\(track.index.lowerBound)-\(track.index.upperBound - 1)\" indexRangeExact=\"true\">",
            "          <Initialization range=\"0-\(track.index.lowerBound - 1)\"/>",
            "        </SegmentBase>", "      </Representation>", "    </AdaptationSet>",
        ]
        return lines
    }

    /// As XML Schema writes a duration.
    private static func length(_ seconds: Double) -> String { "PT\(MasterList.thousandths(seconds))S" }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // XML allows no other control characters.
            case "\u{0}"..<"\u{20}" where scalar != "\t" && scalar != "\n": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// The index of a file's parts (`sidx`, ISO/IEC 14496-12, 8.16.3): how much each holds, and how long it lasts.
struct SegmentIndex: Sendable {
    private(set) var parts: [(byteCount: Int, seconds: Double)] = []

    /// Takes the whole box; nil where it is none.
    init?(_ box: MovieBox) {
        let bytes = box.bytes
        guard bytes.count >= 32, box.name(at: 4) == "sidx" else { return nil }
        let scale = Double(box.number(at: 16, 4)), first = bytes[8] == 0 ? 28 : 36
        guard scale > 0, bytes.count >= first + 4 else { return nil }
        for number in 0..<Int(box.number(at: first + 2, 2)) {
            let place = first + 4 + 12 * number
            guard place + 12 <= bytes.count else { return nil }
            parts.append((Int(box.number(at: place, 4) & 0x7FFF_FFFF), Double(box.number(at: place + 4, 4)) / scale))
        }
    }

    /// Seconds of the longest part.
    var longestSeconds: Double { parts.map(\.seconds).max() ?? 0 }

    /// Bits a second of the part that needs most.
    var peakBitRate: Int {
        let rates = parts.map { $0.seconds > 0 ? Double($0.byteCount) * 8 / $0.seconds : 0 }
        return max(1, Int(min(rates.max() ?? 0, 1e12).rounded(.up)))
    }
}
