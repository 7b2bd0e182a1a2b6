/// Makes subtitles in fragmented MP4, box by box (ISO/IEC 14496-12 and 14496-30), with a time scale of 1000 and the track number 3.
enum TextMovie {
    /// A sample: its length in milliseconds, and its bytes.
    typealias Sample = (duration: Int, bytes: [UInt8])

    static func number(_ value: Int, _ count: Int = 4) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) } }

    static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let body = parts.flatMap(\.self)
        return number(8 + body.count) + Array(type.utf8) + body
    }

    /// - Parameter form: `wvtt` or `stpp`.
    static func head(_ form: String, timescale: Int = 1000, isLong: Bool = false) -> [UInt8] {
        let version = number(isLong ? 1 << 24 : 0), times = [UInt8](repeating: 0, count: isLong ? 16 : 8)
        let media = box("mdhd", version, times, number(timescale), [UInt8](repeating: 0, count: isLong ? 12 : 8))
        let samples = box("stbl", box("stsd", number(0), number(1), box(form, [UInt8](repeating: 0, count: 8))))
        let track = box("trak", box("tkhd", version, times, number(3), number(0)), box("mdia", media, box("minf", samples)))
        // Frames of another track come first.
        let other = box("trak", box("tkhd", number(0), number(0, 8), number(1)), box("mdia", box("mdhd", number(0), number(0, 8), number(25))))
        let usual = box("mvex", box("trex", number(0), number(3), number(1), number(2000), number(0), number(0)))
        return box("ftyp", Array("cmfs".utf8), number(0)) + box("moov", box("mvhd", number(0, 100)), other, track, usual)
    }

    /// - Parameter start: of the first sample, in milliseconds.
    static func part(_ samples: [Sample], at start: Int) -> [UInt8] {
        func fragment(_ offset: Int) -> [UInt8] {
            // The durations and the sizes of the samples, which count from the fragment's beginning.
            let list = samples.flatMap { number($0.duration) + number($0.bytes.count) }
            let run = box("trun", number(0x301), number(samples.count), number(offset), list)
            let header = box("tfhd", number(0x20000), number(3))
            return box("moof", box("mfhd", number(0), number(1)), box("traf", header, box("tfdt", number(1 << 24), number(start, 8)), run))
        }
        let data = samples.flatMap(\.bytes)
        return box("styp", Array("msdh".utf8), number(0)) + fragment(fragment(0).count + 8) + box("mdat", data)
    }

    /// The bytes of a WebVTT sample in which these cues are shown; none: nothing is.
    static func webVTT(_ texts: [String]) -> [UInt8] {
        texts.isEmpty ? box("vtte") : texts.flatMap { box("vttc", box("sttg", Array("line:80%".utf8)), box("payl", Array($0.utf8))) }
    }
}
