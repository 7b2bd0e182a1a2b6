/// Subtitles in the parts of fragmented MP4 (ISO/IEC 14496-12, 8.8): WebVTT (`wvtt`; ISO/IEC 14496-30, 7) or TTML (`stpp`; the same, 5).
///
/// A pure value.
struct MovieText: Sendable {
    private enum Form: String { case webVTT = "wvtt", timedText = "stpp" }

    private let form: Form
    private let trackID: Int64
    private let timescale: Int64
    /// Of samples that say nothing else.
    private var duration: Int64 = 0, size: Int64 = 0

    /// 100,000 samples, as many cues, and texts of 16 KiB at most: more than any film has.
    private static let most = 100_000, longestText = 16 << 10
    /// 100 years in seconds, as lists that count from 1970 do.
    private static let latest: Int64 = 3_200_000_000

    /// nil where no track of such subtitles is announced.
    init?(head: [UInt8]) {
        let boxes = MovieBoxes(head), whole = boxes.all
        guard let movie = boxes.first("moov", in: whole) else { return nil }
        for track in boxes.list(in: movie) where track.type == "trak" {
            guard let media = boxes.first("mdia", in: track.body), let header = boxes.first("mdhd", in: media),
                let samples = boxes.find(["minf", "stbl", "stsd"], in: media), samples.count > 8,
                let form = boxes.list(in: samples.dropFirst(8)).lazy.compactMap({ Form(rawValue: $0.type) }).first,
                let own = boxes.first("tkhd", in: track.body)
            else { continue }
            let isLong = boxes.number(1, at: header.lowerBound) == 1, hasLongTimes = boxes.number(1, at: own.lowerBound) == 1
            guard let scale = boxes.number(4, at: header.lowerBound + (isLong ? 20 : 12)), scale > 0,
                let number = boxes.number(4, at: own.lowerBound + (hasLongTimes ? 20 : 12))
            else { continue }
            (self.form, timescale, trackID) = (form, scale, number)
            for usual in boxes.list(in: boxes.first("mvex", in: movie) ?? 0..<0) where usual.type == "trex" {
                guard boxes.number(4, at: usual.body.lowerBound + 4) == number else { continue }
                duration = boxes.number(4, at: usual.body.lowerBound + 12) ?? 0
                size = boxes.number(4, at: usual.body.lowerBound + 16) ?? 0
            }
            return
        }
        return nil
    }

    // MARK: Samples

    private struct Sample {
        var body: Range<Int>
        /// In `timescale`.
        var start: Int64
        var duration: Int64
    }

    /// The cues of a part, in milliseconds of the container; nil where it is none.
    func cues(_ part: [UInt8]) -> [TextCue]? {
        let boxes = MovieBoxes(part)
        // Samples lie beside each other: together they have no more bytes than the part.
        var isPart = false, cues: [TextCue] = [], last: [String: Int] = [:], samplesLeft = Self.most, bytesLeft = part.count
        for fragment in boxes.list(in: boxes.all) where fragment.type == "moof" {
            isPart = true
            for track in boxes.list(in: fragment.body) where track.type == "traf" {
                let samples = samples(of: track.body, boxes, from: fragment.start, most: samplesLeft)
                samplesLeft -= samples.count
                for sample in samples {
                    bytesLeft -= sample.body.count
                    if bytesLeft < 0 { return cues }
                    let (start, end) = (milliseconds(sample.start), milliseconds(sample.start + sample.duration))
                    for cue in read(boxes, sample.body, start, end) {
                        // A cue that lasts stands in each of the samples that it lasts over.
                        if let before = last[cue.text], cues[before].end >= cue.start, cues[before].start <= cue.start {
                            cues[before].end = max(cues[before].end, cue.end)
                        } else {
                            guard cues.count < Self.most else { return cues }
                            last[cue.text] = cues.count
                            cues.append(cue)
                        }
                    }
                }
            }
        }
        return isPart ? cues : nil
    }

    private func milliseconds(_ time: Int64) -> Int64 { Int64((Double(time) / Double(timescale) * 1000).rounded()) }

    private func read(_ boxes: MovieBoxes, _ body: Range<Int>, _ start: Int64, _ end: Int64) -> [TextCue] {
        if form == .timedText {
            // A sample that says no length leaves it to its document.
            return (end > start ? TimedText(boxes.bytes[body], shownFrom: start, to: end) : TimedText(boxes.bytes[body]))?.cues ?? []
        }
        return boxes.list(in: body).filter { $0.type == "vttc" }.compactMap { cue in
            guard end > start, let words = boxes.first("payl", in: cue.body), words.count <= Self.longestText else { return nil }
            // Packagers leave the line's end.
            let lines = String(decoding: boxes.bytes[words], as: UTF8.self).split(whereSeparator: \.isNewline)
            return lines.isEmpty ? nil : TextCue(start: start, end: end, text: lines.joined(separator: "\n"))
        }
    }

    /// - Parameters:
    ///   - begin: where the fragment does, from which the places of its samples count.
    ///   - most: samples.
    private func samples(of track: Range<Int>, _ boxes: MovieBoxes, from begin: Int, most: Int) -> [Sample] {
        guard let header = boxes.first("tfhd", in: track), let flags = boxes.number(4, at: header.lowerBound),
            boxes.number(4, at: header.lowerBound + 4) == trackID
        else { return [] }
        var reader = MovieBoxes.Reader(boxes, header.dropFirst(8)), base = Int64(begin)
        if flags & 1 != 0 { base = reader.next(8) ?? base }
        guard base <= Int64(boxes.bytes.count) else { return [] }
        if flags & 2 != 0 { _ = reader.next(4) }
        let duration = flags & 8 != 0 ? reader.next(4) ?? duration : duration, size = flags & 0x10 != 0 ? reader.next(4) ?? size : size
        var time: Int64 = 0
        if let box = boxes.first("tfdt", in: track) {
            time = boxes.number(boxes.number(1, at: box.lowerBound) == 1 ? 8 : 4, at: box.lowerBound + 4) ?? 0
        }
        var place = base, found: [Sample] = []
        for run in boxes.list(in: track) where run.type == "trun" {
            var reader = MovieBoxes.Reader(boxes, run.body)
            guard let flags = reader.next(4), let count = reader.next(4) else { return found }
            if flags & 1 != 0, let offset = reader.next(4) { place = base + Int64(Int32(truncatingIfNeeded: offset)) }
            if flags & 4 != 0 { _ = reader.next(4) }
            for _ in 0..<count {
                // What is said of each sample ends with the box.
                guard let duration = flags & 0x100 != 0 ? reader.next(4) : duration, let size = flags & 0x200 != 0 ? reader.next(4) : size,
                    flags & 0x400 == 0 || reader.next(4) != nil, let shift = flags & 0x800 != 0 ? reader.next(4) : 0,
                    found.count < most, time <= Int64.max / 2, time / timescale < Self.latest, place >= 0,
                    size <= Int64(boxes.bytes.count) - place
                else { return found }
                let start = max(time + Int64(Int32(truncatingIfNeeded: shift)), 0)
                found.append(Sample(body: Int(place)..<Int(place + size), start: start, duration: duration))
                (time, place) = (time + duration, place + size)
            }
        }
        return found
    }
}
