package import Media

/// The playlist of HTTP Live Streaming (RFC 8216) for a film in fragments: where each fragment lies in the film's file, and how long it lasts.
///
/// Every part of the list is a range of bytes of the one file, however long the film is. The list grows while the film is written: each new part
/// stands at its end, so that a player may begin before the film is whole. A pure value.
package struct SegmentList: Sendable {
    private struct Segment: Sendable {
        var duration: MediaTime
        var range: Range<Int64>
    }

    /// The name of the film's file, which lies in the list's folder.
    package let fileName: String
    /// Whether the film has frames: their ends count as the film's end then.
    package var hasVideo = false
    /// How much comes before the part that is wanted: players are asked to begin behind it (`EXT-X-START`). Set before the first change.
    package var leadIn = MediaTime.zero
    /// Bytes of the file before the first fragment: what a player needs to decode any of them. Set before the first segment ends.
    package var headByteCount: Int64?
    /// Seconds that no segment exceeds, rounded. More only when one does.
    private var targetSeconds: Int
    private var segments: [Segment] = []
    private var isWhole = false
    /// Segments that the list's file has, and the longest that it promises; nil before the file has anything.
    private var written: (count: Int, targetSeconds: Int)?
    /// Film time at which the next segment begins.
    private var start = MediaTime.zero
    /// Film time at which the last frame ends.
    private var lastEnd = MediaTime.zero

    /// - Parameter segmentDuration: How long a segment is to be.
    package init(fileName: String, segmentDuration: MediaTime) {
        self.fileName = fileName
        let seconds = segmentDuration.isNumeric ? segmentDuration.seconds : 6
        targetSeconds = Int(max(min(seconds, 86_400), 1).rounded(.up))
    }

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
        if byteCount > offset {
            segments.append(Segment(duration: time - start, range: offset..<byteCount))
            targetSeconds = max(targetSeconds, Int((time - start).seconds.rounded(.up)))
        }
        start = time
    }

    /// Nothing follows.
    package mutating func end() { isWhole = true }

    /// What the list's file does not have yet.
    package enum Change: Sendable, Hashable {
        /// The file is to have only this.
        case replace(String)
        /// The file is to have this at its end.
        case append(String)
    }

    /// The change that brings the file up to date, which is taken to be made; called after each segment.
    package mutating func takeChange() -> Change {
        let before = written
        written = (segments.count, targetSeconds)
        guard let before, before.targetSeconds == targetSeconds else { return .replace(head + text(of: segments[...]) + ending) }
        return .append(text(of: segments[before.count...]) + ending)
    }

    private var head: String {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(targetSeconds)", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:EVENT",
            "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-MAP:URI=\"\(Self.address(fileName))\",BYTERANGE=\"\(headByteCount ?? 0)@0\"",
        ]
        if leadIn > .zero { lines.append("#EXT-X-START:TIME-OFFSET=\(Self.seconds(leadIn)),PRECISE=YES") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func text(of segments: ArraySlice<Segment>) -> String {
        let name = Self.address(fileName)
        return segments.map { segment in
            let range = "\(segment.range.count)@\(segment.range.lowerBound)"
            return "#EXTINF:\(Self.seconds(segment.duration)),\n#EXT-X-BYTERANGE:\(range)\n\(name)\n"
        }.joined()
    }

    private var ending: String { isWhole ? "#EXT-X-ENDLIST\n" : "" }

    /// Bits a second: of the worst run of segments that lasts from half to one and a half of the target duration (RFC 8216, 4.3.4.2), and of all.
    package var bitRates: (peak: Int, average: Int) {
        func rate(_ bytes: Int64, _ seconds: Double) -> Int { seconds > 0 ? Int((Double(bytes) * 8 / seconds).rounded(.up)) : 0 }
        let target = Double(targetSeconds), lengths = segments.map(\.duration.seconds)
        var peak = 0, total: (bytes: Int64, seconds: Double) = (0, 0)
        for first in segments.indices {
            total = (total.bytes + Int64(segments[first].range.count), total.seconds + lengths[first])
            var run: (bytes: Int64, seconds: Double) = (0, 0)
            for next in first..<segments.count {
                run = (run.bytes + Int64(segments[next].range.count), run.seconds + lengths[next])
                if run.seconds > target * 1.5 { break }
                if run.seconds >= target / 2 { peak = max(peak, rate(run.bytes, run.seconds)) }
            }
        }
        let average = rate(total.bytes, total.seconds)
        return (max(peak, average), average)
    }

    /// With six digits behind the point.
    private static func seconds(_ time: MediaTime) -> String {
        let micros = max(time.converted(to: 1_000_000).value, 0), rest = String(micros % 1_000_000)
        return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - rest.count) + rest
    }

    /// A name as a relative address: all but the unreserved characters in percent form (RFC 3986, 2.3).
    static func address(_ name: String) -> String {
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
