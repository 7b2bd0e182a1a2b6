internal import Media

/// The index of a fragment (`moof`, ISO/IEC 14496-12, 8.8.4), in which frames after the film's end are hidden that are decoded for others.
///
/// The edit list says where the film ends, but FFmpeg applies edit lists only to the samples of the film's own index. In fragments it hides what is
/// decoded no later than the last sample of the run before (`trun`). So a hidden sample begins a run and is decoded at the time of the sample before
/// it, which then lasts no time in the order of decoding; every sample is shown when it was. Readers that obey the edit list find nothing new.
struct MovieFragment {
    private var box: MovieBox

    /// Takes the whole box with its header of 8 bytes.
    init(_ box: MovieBox) { self.box = box }

    var bytes: [UInt8] { box.bytes }

    /// A sample as a run describes it. Times are in units of the track.
    struct Sample: Sendable, Hashable {
        var duration: Int64
        var byteCount: Int64
        var flags: Int64
        /// From the time of decoding to that of showing, as the box has it: 32 bits.
        var offset: Int64
    }

    /// Samples whose bytes follow each other.
    struct Run: Sendable, Hashable {
        /// Of the first byte, from the beginning of the fragment.
        var place: Int64
        var samples: [Sample]
    }

    /// Hides samples of a run.
    ///
    /// - Parameters:
    ///   - numbers: Of the samples, counted from 0 through all runs.
    ///   - step: How much later the first sample is decoded than the one before it, in an earlier fragment; nil: there is none, so it stays.
    /// - Returns: The runs, and how much earlier the first sample is decoded now.
    static func hiding(_ numbers: Set<Int>, in runs: [Run], after step: Int64?) -> (runs: [Run], earlier: Int64) {
        var result: [Run] = [], earlier: Int64 = 0, number = 0, isBehindHidden = false
        for run in runs {
            var place = run.place
            result.append(Run(place: place, samples: []))
            for sample in run.samples {
                var sample = sample
                let isHidden = numbers.contains(number) && (number > 0 || step != nil)
                if isHidden {
                    var gap = step ?? 0
                    if number == 0 {
                        earlier = gap
                    } else if let last = result.lastIndex(where: { !$0.samples.isEmpty }) {
                        let before = result[last].samples.count - 1
                        gap = result[last].samples[before].duration
                        result[last].samples[before].duration = 0
                    }
                    sample.duration += gap
                    sample.offset += gap
                    if !isBehindHidden, result.last?.samples.isEmpty == false { result.append(Run(place: place, samples: [])) }
                }
                result[result.count - 1].samples.append(sample)
                place += sample.byteCount
                isBehindHidden = isHidden
                number += 1
            }
        }
        return (result, earlier)
    }

    /// Hides samples of a track; see `hiding`. Does nothing in a fragment that is written in another way than libavformat's.
    mutating func hide(_ numbers: Set<Int>, ofTrack track: Int64, after step: Int64?) {
        for part in box.boxes("traf", in: 8..<box.bytes.count) {
            let content = part.lowerBound + 8..<part.upperBound
            guard let head = box.first("tfhd", in: content), box.number(at: head.lowerBound + 12, 4) == track,
                let time = box.first("tfdt", in: content)
            else { continue }
            let old = box.boxes("trun", in: content), usual = usual(head)
            guard let first = old.first, let last = old.last, old.reduce(0, { $0 + $1.count }) == last.upperBound - first.lowerBound else { return }
            let found = old.map { run($0, usual) }
            let (runs, earlier) = Self.hiding(numbers, in: found, after: step)
            guard runs != found || earlier != 0 else { return }
            let size = box.bytes[time.lowerBound + 8] == 1 ? 8 : 4
            box.set(box.number(at: time.lowerBound + 12, size) - earlier, at: time.lowerBound + 12, size)
            let version = box.bytes[first.lowerBound + 8]
            let new = runs.flatMap { Self.bytes($0, version) }, range = first.lowerBound..<last.upperBound
            box.replace(range, by: new, [0, part.lowerBound])
            return moveRuns(by: Int64(new.count - range.count))
        }
    }

    // MARK: Boxes

    /// What the samples of a track have where a run does not say it (`tfhd`; 8.8.7).
    private func usual(_ head: Range<Int>) -> Sample {
        let flags = box.number(at: head.lowerBound + 8, 4)
        var place = head.lowerBound + 16
        func next(_ flag: Int64, _ size: Int) -> Int64 {
            guard flags & flag != 0 else { return 0 }
            defer { place += size }
            return box.number(at: place, size)
        }
        _ = next(0x1, 8)
        _ = next(0x2, 4)
        return Sample(duration: next(0x8, 4), byteCount: next(0x10, 4), flags: next(0x20, 4), offset: 0)
    }

    /// `trun`; 8.8.8.
    private func run(_ range: Range<Int>, _ usual: Sample) -> Run {
        let flags = box.number(at: range.lowerBound + 8, 4)
        var place = range.lowerBound + 16
        func next(_ flag: Int64, _ usual: Int64) -> Int64 {
            guard flags & flag != 0, place + 4 <= range.upperBound else { return usual }
            defer { place += 4 }
            return box.number(at: place, 4)
        }
        let start = next(0x1, 0), firstFlags = next(0x4, usual.flags)
        let samples = (0..<box.number(at: range.lowerBound + 12, 4)).map { number in
            let (duration, byteCount) = (next(0x100, usual.duration), next(0x200, usual.byteCount))
            let own = next(0x400, number == 0 ? firstFlags : usual.flags)
            return Sample(duration: duration, byteCount: byteCount, flags: own, offset: next(0x800, 0))
        }
        return Run(place: start, samples: samples)
    }

    /// With all that a run can say.
    private static func bytes(_ run: Run, _ version: UInt8) -> [UInt8] {
        var content = [version, 0, 0x0F, 0x01] + MovieBox.bigEndian(Int64(run.samples.count), 4) + MovieBox.bigEndian(run.place, 4)
        for sample in run.samples {
            for value in [sample.duration, sample.byteCount, sample.flags, sample.offset] { content += MovieBox.bigEndian(value, 4) }
        }
        return MovieBox.box("trun", content)
    }

    /// The index has grown, so all bytes lie further behind its beginning.
    private mutating func moveRuns(by growth: Int64) {
        for part in box.boxes("traf", in: 8..<box.bytes.count) {
            for run in box.boxes("trun", in: part.lowerBound + 8..<part.upperBound) where box.number(at: run.lowerBound + 8, 4) & 0x1 != 0 {
                box.set(box.number(at: run.lowerBound + 16, 4) + growth, at: run.lowerBound + 16, 4)
            }
        }
    }

    // MARK: In a file

    /// Changes the index of the last fragment of a file, whose beginning lies at `offset` or behind it. What follows it moves.
    static func change(in descriptor: Int32, from offset: Int64, _ change: (inout MovieFragment) -> Void) throws(SystemError) {
        guard let place = try MovieBox.find("moof", in: descriptor, from: offset) else { return }
        var fragment = MovieFragment(try MovieBox.read(Int(place.count), at: place.offset, in: descriptor))
        change(&fragment)
        try MovieBox.replace(place, by: fragment.bytes, in: descriptor)
    }
}

/// What a track's fragment holds while it is written. A pure value.
struct FragmentContent: Sendable {
    private var count = 0
    /// The numbers of the samples after the film's end.
    private(set) var hidden: Set<Int> = []
    /// How much later the first of them is decoded than the sample before this fragment; nil: there is none.
    private(set) var step: Int64?
    /// When the last sample is decoded, in units of the track: one that is hidden, with the one before it.
    private var last: Int64?

    mutating func add(decode: Int64, isHidden: Bool) {
        if count == 0 { step = last.map { decode - $0 } }
        if isHidden { hidden.insert(count) }
        if !isHidden || last == nil { last = decode }
        count += 1
    }

    /// The next fragment begins.
    mutating func end() { (count, hidden, step) = (0, [], nil) }
}
