internal import Demuxing
internal import Media

/// The playlist of HTTP Live Streaming that says what a film needs before it is opened: codecs, size and rate (RFC 8216, 4.3.4). A player chooses
/// by it, and a server puts the entries of several qualities together. Pure.
enum MasterList {
    /// - Parameters:
    ///   - listName: The name of the film's own playlist, in the same folder.
    ///   - codecs: Of the film's tracks.
    ///   - video: The format of its frames; nil for sound alone.
    static func text(listName: String, bitRates: (peak: Int, average: Int), codecs: [CodecText], video: VideoFormat?) -> String {
        var attributes = ["BANDWIDTH=\(bitRates.peak)", "AVERAGE-BANDWIDTH=\(bitRates.average)"]
        var names: [String] = []
        for codec in codecs where !names.contains(codec.text) { names.append(codec.text) }
        attributes.append("CODECS=\"\(names.joined(separator: ","))\"")
        if let video {
            attributes.append("RESOLUTION=\(video.visible.size.width)x\(video.visible.size.height)")
            if video.frameRate.isKnown { attributes.append("FRAME-RATE=\(thousandths(video.frameRate.doubleValue))") }
            switch video.attributes.color.transfer {
            case 16: attributes.append("VIDEO-RANGE=PQ")
            case 18: attributes.append("VIDEO-RANGE=HLG")
            default: break
            }
        }
        return """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-STREAM-INF:\(attributes.joined(separator: ","))
            \(SegmentList.address(listName))

            """
    }

    /// With three digits behind the point.
    static func thousandths(_ number: Double) -> String {
        let whole = Int((number * 1000).rounded()), rest = String(whole % 1000)
        return "\(whole / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
