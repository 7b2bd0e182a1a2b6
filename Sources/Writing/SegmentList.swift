package import Media

/// The playlist of HTTP Live Streaming (RFC 8216) for a film in fragments: where each fragment lies in the film's file, and how long it lasts.
///
/// Every part of the list is a range of bytes of the one file, so a film is two files however long it is. A pure value.
package struct SegmentList: Sendable {
    private struct Segment: Sendable {
        var duration: MediaTime
        var range: Range<Int64>
    }

    /// The name of the film's file, which lies in the list's folder.
    package let fileName: String
    /// Whether the film has frames: their ends count as the film's end then.
    package var hasVideo = false
    /// Bytes of the file before the first fragment: what a player needs to decode any of them. Set before the first segment ends.
    package var headByteCount: Int64?
    private var segments: [Segment] = []
    /// Film time at which the next segment begins.
    private var start = MediaTime.zero
    /// Film time at which the last frame ends.
    private var lastEnd = MediaTime.zero

    package init(fileName: String) { self.fileName = fileName }

    /// Where the next segment begins in the file.
    private var offset: Int64 { segments.last?.range.upperBound ?? headByteCount ?? 0 }

    /// A sample has been written that is shown until `end`, in film time.
    package mutating func note(isVideo: Bool, end: MediaTime) {
        if isVideo || !hasVideo { lastEnd = max(lastEnd, end) }
    }

    /// A segment ends with the first `byteCount` bytes of the file.
    ///
    /// - Parameter time: Film time at which the next segment begins; nil: nothing follows.
    package mutating func endSegment(at time: MediaTime?, byteCount: Int64) {
        let time = max(time ?? lastEnd, start)
        if byteCount > offset { segments.append(Segment(duration: time - start, range: offset..<byteCount)) }
        start = time
    }

    /// The list of the whole film.
    package var text: String {
        let name = Self.address(fileName), longest = segments.map { $0.duration.seconds.rounded(.up) }.max() ?? 1
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(Int(max(longest, 1)))", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD",
            "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-MAP:URI=\"\(name)\",BYTERANGE=\"\(headByteCount ?? 0)@0\"",
        ]
        for segment in segments {
            lines.append("#EXTINF:\(Self.seconds(segment.duration)),")
            lines.append("#EXT-X-BYTERANGE:\(segment.range.count)@\(segment.range.lowerBound)")
            lines.append(name)
        }
        lines.append("#EXT-X-ENDLIST")
        return lines.joined(separator: "\n") + "\n"
    }

    /// With six digits behind the point.
    private static func seconds(_ time: MediaTime) -> String {
        let micros = max(time.converted(to: 1_000_000).value, 0), rest = String(micros % 1_000_000)
        return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - rest.count) + rest
    }

    /// A name as a relative address: all but the unreserved characters in percent form (RFC 3986, 2.3).
    private static func address(_ name: String) -> String {
        var text = ""
        for byte in PathText.bytes(name) {
            let isPlain = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            if isPlain || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-._~".utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += byte < 16 ? "%0" : "%"
                text += String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}
