internal import Media
internal import SurfacePool

/// The text of a `framemd5` file, byte for byte as FFmpeg writes it for one video track (`libavformat/framehash.c`, version 2).
///
/// A pure value.
struct FrameMD5Text: Sendable {
    /// What a frame's line contains.
    struct Row: Sendable, Hashable {
        /// In units of the time base; nil when the frame has no time.
        var time: Int64?
        var duration: Int64
        var byteCount: Int
        var digest: String
    }

    private var lastTime: Int64?

    /// The lines above the table, which describe the first frame.
    ///
    /// - Parameter software: Names the program that writes. Nil leaves the line out, as FFmpeg does with `-fflags bitexact`.
    static func header(software: String?, timeBase: Ratio, size: PixelSize, aspect: Ratio) -> String {
        """
        #format: frame checksums
        #version: 2
        #hash: MD5
        \(software.map { "#software: \($0)\n" } ?? "")#tb 0: \(timeBase)
        #media_type 0: video
        #codec_id 0: rawvideo
        #dimensions 0: \(size)
        #sar 0: \(aspect.isKnown ? aspect : Ratio(0, 1))
        #stream#, dts,        pts, duration,     size, hash

        """
    }

    /// A frame's line. Times never decrease, because FFmpeg's muxing does not allow it. A frame without a time gets that of the frame before.
    mutating func line(_ row: Row) -> String {
        let time = max(row.time ?? lastTime ?? 0, lastTime ?? .min)
        lastTime = time
        let (stamp, duration, size) = (Self.pad(time, 10), Self.pad(row.duration, 8), Self.pad(Int64(row.byteCount), 8))
        return "0, \(stamp), \(stamp), \(duration), \(size), \(row.digest)\n"
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: " ", count: max(width - text.utf8.count, 0)) + text
    }
}

extension Ratio {
    /// `time` in units of this many seconds, rounded to the nearest; nil when one of them is unknown.
    func count(in time: MediaTime) -> Int64? {
        guard isKnown, time.isNumeric else { return nil }
        let count = time.multiplied(by: denominator, over: numerator).converted(to: 1)
        return count.isNumeric ? count.value : nil
    }
}
