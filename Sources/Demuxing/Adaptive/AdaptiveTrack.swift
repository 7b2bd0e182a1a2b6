internal import CAV
internal import Media
internal import SampleQueue
internal import Sandbox

/// One of an adaptive film's lists while it is read: a demuxer for each run of parts, one after the other, whose tracks are those of the first.
///
/// Samples keep the times that their containers say.
///
/// Thread-safety: one thread at a time.
final class AdaptiveTrack {
    private let fetcher: PartFetcher
    private let lane: Int
    private let location: String
    private let options: AssetReaderOptions
    private let sandbox: SandboxOptions
    /// The tracks by their numbers in the film, which count from the first one's.
    private(set) var tracks: [AssetTrack] = []
    private let firstID: Int
    private var reader: (any AssetReading)?
    /// What it reads.
    private var bytes: RunBytes?
    /// For the reader's tracks, the film's.
    private var numbers: [Int: Int] = [:]
    private var selected: Set<Int> = []
    /// One sentence for the viewer when it is not read in the process that was asked for.
    private(set) var notice: String?
    /// The part that the reader's run began with; nil before the first.
    private(set) var part: PartLane.Part?
    /// Changes with every run.
    private(set) var runCount = 0
    /// Tracks of sound whose first sample of a run that goes on behind another has not come: an encoder's priming is the film's beginning only.
    private var primed: Set<Int> = []

    /// The first bytes say that it is none of the kinds of parts that there are.
    struct UnknownParts: Error {}

    /// - Parameter firstID: the film's number of the first track.
    init(_ fetcher: PartFetcher, lane: Int, firstID: Int, _ location: String, _ options: AssetReaderOptions, _ sandbox: SandboxOptions) {
        (self.fetcher, self.lane, self.firstID, self.location, self.sandbox) = (fetcher, lane, firstID, location, sandbox)
        var own = options
        own.keepsTimes = true
        own.progress = nil
        own.lists = .byLibrary
        self.options = own
    }

    /// Opens the first run and so learns the tracks. nil: the parts are of an unknown kind, or there are none.
    func open() throws(AssetError) -> Bool {
        guard try openRun() else { return false }
        tracks = (reader?.tracks ?? []).enumerated().map { index, track in
            numbers[track.id] = firstID + index
            var own = track
            own.id = firstID + index
            return own
        }
        selected = AssetTrack.usual(tracks)
        return true
    }

    func select(_ ids: Set<Int>) {
        selected = ids
        passSelection()
    }

    private func passSelection() { reader?.select(Set(numbers.filter { selected.contains($0.value) }.keys)) }

    /// The next sample, with the film's number of its track; nil at the end.
    func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            if reader == nil, try !openRun() { return nil }
            guard var sample = try reader?.nextSample() else {
                reader = nil
                continue
            }
            guard let number = numbers[sample.trackID], selected.contains(number) else { continue }
            sample.trackID = number
            if primed.remove(number) != nil, case .compressed(let block, _) = sample.content {
                unsafe av_packet_shrink_side_data(block.packet, AV_PKT_DATA_SKIP_SAMPLES, 0)
            }
            if number == datedTrack, sample.flags.contains(.sync), let date = sample.fileOffset.flatMap({ bytes?.takeDate(at: $0) }) {
                sample.setProgramDate(date)
            }
            return sample
        }
    }

    /// The next sample is that of the place where the fetcher has been sent.
    func restart() { (reader, bytes, part) = (nil, nil, nil) }

    /// The track whose samples tell the dates of parts: a part begins with a frame that can be decoded alone, where it has frames.
    private var datedTrack: Int? { (tracks.first { $0.kind == .video } ?? tracks.first).map(\.id) }

    /// False at the end of the film.
    private func openRun() throws(AssetError) -> Bool {
        while let first = try fetcher.nextPart(lane, bytes: Self.shortestHead) {
            guard first.progress != .lost || !first.bytes.isEmpty else {
                fetcher.state.change { state in _ = state.lanes[lane].read(true) { _ in 0 } }
                continue
            }
            guard let kind = Self.kind(first) else {
                if tracks.isEmpty { return false }
                throw AssetError(.damaged, "\(location): a part of it is of no known kind.")
            }
            var options = options
            let bytes = RunBytes(fetcher, lane: lane, first: first)
            options.source = bytes
            options.containerName = kind.isEmpty ? nil : kind
            // Every part begins with all that there is to know; libavformat would look at the next ones as well, which may come late.
            if kind == "mpegts" { options.libraryOptions["analyzeduration"] = Self.longestProbe }
            let source = try SourceReader(opening: location, options, sandbox)
            notice = notice ?? source.notice
            (reader, self.bytes) = (source.reader, bytes)
            primed = part == nil ? [] : Set(tracks.filter { $0.kind == .audio }.map(\.id))
            (part, runCount) = (first, runCount + 1)
            if !tracks.isEmpty {
                number(source.reader.tracks)
                passSelection()
            }
            return true
        }
        return false
    }

    /// Tells the tracks of another run by their kind, and by their order among those of their kind.
    private func number(_ others: [AssetTrack]) {
        numbers = [:]
        var taken: Set<Int> = []
        for other in others {
            guard let same = tracks.first(where: { $0.kind == other.kind && !taken.contains($0.id) }) else { continue }
            taken.insert(same.id)
            numbers[other.id] = same.id
        }
    }

    /// Half a second, in microseconds: parts are rarely shorter than one.
    private static let longestProbe = "500000"
    /// How Matroska and WebM begin (RFC 8794, 11.2.1).
    private static let matroska: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3]
    /// Two packets of a transport stream.
    private static let shortestHead = 189

    /// libavformat's name of the container; empty where it finds out; nil where the part is none that HLS (RFC 8216, 3) or DASH has.
    private static func kind(_ part: PartLane.Part) -> String? {
        if part.head.starts(with: matroska) { return "matroska" }
        if !part.head.isEmpty { return "mov" }
        if part.bytes.first == 0x47, part.bytes.count < shortestHead || part.bytes[188] == 0x47 { return "mpegts" }
        return part.timestamp == nil ? nil : ""
    }
}
